import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { test as base, expect } from '@playwright/test';
import { makeConsumer } from '../support/e2e/consumer.ts';

/** What a user installs: poolwright, its two dependencies, and Playwright beside it, in a folder that sees nothing of this repository. */

const root = resolve(import.meta.dirname, '../..');
const run = promisify(execFile);
const {
  dependencies,
  peerDependencies,
}: Record<'dependencies' | 'peerDependencies', Record<string, string>> = JSON.parse(
  await readFile(join(root, 'package.json'), 'utf8'),
);
const INSTALLED = ['poolwright', ...Object.keys(dependencies)];
const PEERS = ['playwright', ...Object.keys(peerDependencies)];

const test = base.extend<object, { folder: string }>({
  folder: [
    async ({}, use) => {
      const folder = await mkdtemp(join(tmpdir(), 'poolwright-installed-'));
      const packed = await makeConsumer('latest');
      await cp(join(packed.folder, 'node_modules/poolwright'), join(folder, 'node_modules/poolwright'), {
        recursive: true,
      });
      await packed.remove();
      for (const name of Object.keys(dependencies))
        await cp(join(root, 'node_modules', name), join(folder, 'node_modules', name), { recursive: true });
      await mkdir(join(folder, 'node_modules/@playwright'));
      for (const peer of PEERS) await symlink(join(root, 'node_modules', peer), join(folder, 'node_modules', peer));
      await use(folder);
      await rm(folder, { recursive: true });
    },
    { scope: 'worker' },
  ],
});

/** Bytes of all files below a folder. */
async function sizeOf(folder: string): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) bytes += (await stat(join(entry.parentPath, entry.name))).size;
  return bytes;
}

test('three packages and 13 MB at most', async ({ folder }) => {
  const { dependencies: ofUndici = {} } = JSON.parse(
    await readFile(join(folder, 'node_modules/undici/package.json'), 'utf8'),
  );
  const { dependencies: ofZod = {} } = JSON.parse(
    await readFile(join(folder, 'node_modules/zod/package.json'), 'utf8'),
  );
  expect([...INSTALLED, ...Object.keys({ ...ofUndici, ...ofZod })]).toHaveLength(3);
  const sizes = await Promise.all(INSTALLED.map((name) => sizeOf(join(folder, 'node_modules', name))));
  expect(sizes.reduce((sum, size) => sum + size, 0) / 1e6).toBeLessThan(13);
});

test('no file asks for a package that is not installed, and every bundled one has its licence', async ({ folder }) => {
  const dist = join(folder, 'node_modules/poolwright/dist');
  const known = new Set([...INSTALLED, ...PEERS]);
  const asked = new Set<string>();
  for (const name of (await readdir(dist)).filter((each) => /\.(c?js|d\.c?ts)$/.test(each))) {
    const source = await readFile(join(dist, name), 'utf8');
    // A statement begins a line, and names a package as a package may be called.
    const found = source.matchAll(
      /^(?:import|export)\b[^'"\n;]*?(?:\bfrom\s*)?["'](@?[a-z][^"'\n]*)["'];$|^\} from ["'](@?[a-z][^"'\n]*)["'];$|\brequire\("(@?[a-z][^"\n]*)"\)/gm,
    );
    for (const [, imported, from, required] of found) asked.add(imported ?? from ?? required ?? '');
  }
  const packageOf = (specifier: string) =>
    specifier
      .split('/')
      .slice(0, specifier.startsWith('@') ? 2 : 1)
      .join('/');
  expect([...asked].filter((each) => !isBuiltin(each) && !known.has(packageOf(each)))).toEqual([]);
  expect(await readFile(join(dist, 'THIRD_PARTY_LICENSES.txt'), 'utf8')).toMatch(/^hono .*\(MIT\)$/m);
});

for (const [kind, load] of [
  ['ESM', (name: string) => `await import('${name}')`],
  ['CommonJS', (name: string) => `require('${name}')`],
] as const) {
  test(`every entry loads, ${kind}`, async ({ folder }) => {
    const script = join(folder, kind === 'ESM' ? 'entries.mjs' : 'entries.cjs');
    const names = ['poolwright', 'poolwright/client', 'poolwright/emulator', 'poolwright/reporter'];
    await writeFile(
      script,
      names.map((name) => `console.log(Object.keys(${load(name)}).length > 0 ? 'true' : 'nothing');`).join('\n'),
    );
    const { stdout, stderr } = await run(process.execPath, [script], { cwd: folder });
    expect({ stdout, stderr }).toEqual({ stdout: 'true\n'.repeat(names.length), stderr: '' });
  });
}

test("import 'poolwright' loads no zod, no client and no reporter", async ({ folder }) => {
  const hooks = `export async function load(url, context, next) {
    process._rawDebug('loaded ' + url);
    return await next(url, context);
  }`;
  const script = `
    import { register } from 'node:module';
    await import('@playwright/test');
    register(${JSON.stringify(`data:text/javascript,${encodeURIComponent(hooks)}`)}, import.meta.url);
    await import('poolwright');`;
  await writeFile(join(folder, 'loaded.mjs'), script);
  const { stderr } = await run(process.execPath, ['loaded.mjs'], { cwd: folder });
  const loaded = [...stderr.matchAll(/^loaded file:\/\/(.*)$/gm)].map(([, path = '']) => decodeURIComponent(path));
  const ours = loaded.filter((path) => path.startsWith(join(folder, 'node_modules')));
  expect(ours.some((path) => path.endsWith('/dist/index.js'))).toBe(true);
  expect(ours.filter((path) => !path.includes('/node_modules/poolwright/dist/'))).toEqual([]);
  const sources = await Promise.all(ours.map((path) => readFile(path, 'utf8')));
  // What stands in zod, in the client, in the reporter and in undici, by a word of each.
  for (const word of ['ZodObject', 'ServiceClient', 'PoolwrightReporter', 'kDispatcher'])
    expect(sources.filter((source) => new RegExp(`\\b(class|var|function) ${word}\\b`).test(source))).toEqual([]);
  expect(sources.join('').length).toBeLessThan(150_000);

  const required = await run(
    process.execPath,
    ['-e', `require('poolwright'); console.log(Object.keys(require.cache).join('\\n'))`],
    { cwd: folder },
  );
  const cached = required.stdout.split('\n').filter((path) => path.startsWith(join(folder, 'node_modules')));
  expect(cached.some((path) => path.endsWith('/dist/index.cjs'))).toBe(true);
  expect(cached.filter((path) => !path.includes('/node_modules/poolwright/dist/'))).toEqual([]);
});

test('a suite runs', async ({ folder }) => {
  await writeFile(
    join(folder, 'playwright.config.ts'),
    `import { withHostedBrowsers } from 'poolwright';
    export default withHostedBrowsers({ testDir: '.', reporter: 'line' });`,
  );
  await writeFile(
    join(folder, 'a.spec.ts'),
    `import { expect, test } from '@playwright/test';
    test('one', async ({ page }) => {
      await page.goto('data:text/html,<h1>hello</h1>');
      await expect(page.locator('h1')).toHaveText('hello');
    });`,
  );
  const { CI: _ci, ...env } = process.env;
  const { stdout } = await run(process.execPath, [join(root, 'node_modules/@playwright/test/cli.js'), 'test'], {
    cwd: folder,
    env: { ...env, TEST_WORKER_INDEX: undefined },
  });
  expect(stdout).toContain('1 passed');
});
