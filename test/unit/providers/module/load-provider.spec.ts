import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@playwright/test';
import { loadProvider } from '../../../../src/providers/module/load-provider.ts';

/** Writes a file and loads it as a provider. */
async function load(directory: string, name: string, text: string) {
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, name), text);
  return await loadProvider(join(directory, name));
}

const GOOD = 'acquire: async () => ({ id: "1", cdpUrl: "ws://x" }), release: async () => {}';

test('loads ES modules and CommonJS', async ({}, { outputDir }) => {
  for (const [name, text] of [
    ['a.mjs', `export default { ${GOOD} };`],
    ['b.cjs', `module.exports = { ${GOOD} };`],
    ['c.cjs', `exports.__esModule = true; exports.default = { ${GOOD} };`],
    ['d.mjs', 'export default new (class { async acquire() {} async release() {} })();'],
    ['e.cjs', `module.exports = { ${GOOD} }; module.exports.default = module.exports;`],
  ] as const) {
    expect(typeof (await load(outputDir, name, text)).acquire, name).toBe('function');
  }
});

test('says what is wrong with a file, in one error', async ({}, { outputDir }) => {
  for (const [name, text, problem] of [
    ['none.mjs', 'export const provider = {};', 'must have `export default defineProvider({ acquire, release })`'],
    ['function.mjs', 'export default () => {};', 'must have `export default'],
    ['half.mjs', 'export default { acquire() {} };', 'lacks the function `release`'],
    ['odd.mjs', `export default { ${GOOD}, list: [] };`, '`list` in the provider of odd.mjs must be a function'],
    ['broken.mjs', 'export default {', 'broken.mjs could not be loaded: '],
    ['throws.mjs', 'throw new Error("no key ws://host/s3cret");', 'could not be loaded: no key ws://host/***'],
  ] as const) {
    await expect(load(outputDir, name, text), name).rejects.toMatchObject({
      field: 'provider',
      message: expect.stringContaining(problem),
    });
  }
  await expect(loadProvider(join(outputDir, 'absent.mjs'))).rejects.toThrow('absent.mjs does not exist');
});

test('loads TypeScript by Node, else by jiti, else says what to do', async ({}, { outputDir }) => {
  const text = `export default { ${GOOD} } as { acquire: () => Promise<unknown> };`;
  // Inside of this repository, which has jiti.
  expect(typeof (await load(outputDir, 'typed.ts', text)).acquire).toBe('function');
  // `npm init` makes such a package, in which Node takes each `.ts` file for CommonJS.
  await mkdir(outputDir, { recursive: true });
  await writeFile(join(outputDir, 'package.json'), '{ "type": "commonjs" }');
  expect(typeof (await load(outputDir, 'as-commonjs.ts', text)).acquire).toBe('function');
});
