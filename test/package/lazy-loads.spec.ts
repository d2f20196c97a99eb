import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { test as base, expect } from '@playwright/test';
import { lazyLoadProblems } from '../../scripts/lazy-loads.mjs';

const root = resolve(import.meta.dirname, '../..');

const test = base.extend<{ problemsOf: (files: Record<string, string>) => Promise<string[]> }>({
  problemsOf: async ({}, use) => {
    const directory = await mkdtemp(join(tmpdir(), 'poolwright-lazy-'));
    await use(async (files) => {
      await writeFile(join(directory, 'package.json'), '{"type":"module"}');
      for (const [name, code] of Object.entries(files)) await writeFile(join(directory, name), code);
      const problems = await lazyLoadProblems(directory);
      return problems.map((problem) => problem.slice(directory.length + 1));
    });
    await rm(directory, { recursive: true });
  },
});

const REQUIRED = (target: string) => `await Promise.resolve().then(() => __toESM(require(${target})))`;

test.describe('the build', () => {
  test('fails when a name taken from a lazily loaded file does not exist, in both formats', async ({ problemsOf }) => {
    const problems = await problemsOf({
      'library.js': '// node_modules/library/index.js\nexport default { Client: 1 };',
      'library.cjs': '// node_modules/library/index.js\nexports.__esModule = true; exports.default = { Client: 1 };',
      'user.js': `const { Client, default: all } = await import('./library.js');\n(await import('./library.js')).Other;`,
      'user.cjs': `async () => {\n  const { Client } = ${REQUIRED("'./library.cjs'")};\n}`,
    });
    expect(problems.sort()).toEqual([
      'user.cjs:2: import(./library.cjs) has no Client: it exports __esModule, default',
      'user.js:1: import(./library.js) has no Client: it exports default',
      'user.js:2: import(./library.js) has no Other: it exports default',
    ]);
  });

  test('fails when the file cannot be loaded, or a name is missing from a package', async ({ problemsOf }) => {
    const problems = await problemsOf({
      'broken.js': 'throw new Error("broken")',
      'user.js': `const { a } = await import('./broken.js');\nconst { nothing } = await import('node:os');`,
    });
    expect(problems).toEqual([
      'user.js:1: import(./broken.js) cannot be loaded: broken',
      expect.stringMatching(/^user\.js:2: import\(node:os\) has no nothing: it exports /),
    ]);
  });

  test('fails when a bundled library is loaded as a whole, or a require() stands for an import() of a file', async ({
    problemsOf,
  }) => {
    const problems = await problemsOf({
      'library.js': '// node_modules/library/index.js\nexport default {};',
      'own.js': '// src/own.ts\nexport const a = 1;',
      'user.js': `const later = () => import('./library.js');\nconst fine = () => import('./own.js');`,
      'user.cjs': `async (file, name) => {\n  ${REQUIRED('url(file).href')};\n  ${REQUIRED('name')};\n}`,
    });
    expect(problems.sort()).toEqual([
      'user.cjs:2: import() became a require(): use importModule()',
      'user.js:1: import(./library.js) of a bundled library: take the names that are used from it',
    ]);
  });
});

test('every lazily loaded module has a test that also runs on the build', async () => {
  const read = async (directory: string, extension: string) => {
    const names = await readdir(join(root, directory), { recursive: true });
    const files = names.filter((name) => name.endsWith(extension)).map((name) => join(root, directory, name));
    return (await Promise.all(files.map((file) => readFile(file, 'utf8')))).join('\n');
  };
  const found = (text: string, pattern: RegExp) => new Set([...text.matchAll(pattern)].map(([, name = '']) => name));
  const sources = `${await read('src/emulator', '.ts')}${await read('src/cdp', '.ts')}`;
  const specs = `${await read('test/emulator', '.spec.ts')}${await read('test/cdp', '.spec.ts')}`;
  const targets = [...found(sources, /\bawait import\('([^']+)'\)/g)];
  const loaded = [...new Set(targets.map((target) => basename(target, '.ts')))];
  expect(loaded).toContain('socks-library');
  expect([...found(specs, /'@loads:([^']+)'/g)].sort()).toEqual(loaded.sort());
});
