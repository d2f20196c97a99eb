import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { test as base, expect } from '@playwright/test';
import { entriesOf } from '../../../scripts/package/entries.mjs';
import { npm, pack } from '../../../scripts/package/pack.mjs';

/** The tarball that would be published, installed by npm without a network, in the ways that Node and TypeScript find a package. */

const root = resolve(import.meta.dirname, '../../..');
const run = promisify(execFile);
const manifest = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
const entries = entriesOf(manifest);
const tsc = join(root, 'node_modules/typescript/bin/tsc');
/** `npm run test:nodes` puts another one in its place. */
const node = process.env.TEST_NODE ?? process.execPath;

const test = base.extend<object, { folder: string }>({
  folder: [
    async ({}, use) => {
      const folder = await mkdtemp(join(tmpdir(), 'poolwright-consumer-'));
      const tarballs = Object.keys(manifest.dependencies).map((name) => [name, join(root, 'node_modules', name)]);
      const dependencies: Record<string, string> = {};
      for (const [name = '', from] of [[manifest.name, root], ...tarballs]) {
        dependencies[name] = `file:${pack(folder, from).file}`;
      }
      await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies }));
      npm(['install', '--offline', '--ignore-scripts', '--no-audit', '--no-fund', '--omit=peer'], folder);
      // What a user has beside it; linked, because the registry is not asked for them.
      for (const name of [...Object.keys(manifest.peerDependencies), '@types/node']) {
        const installed = join(root, 'node_modules', name);
        const link = join(folder, 'node_modules', name);
        if (!existsSync(installed) || existsSync(link)) continue;
        await mkdir(dirname(link), { recursive: true });
        await symlink(installed, link, 'junction');
      }
      await use(folder);
      await rm(folder, { recursive: true });
    },
    { scope: 'worker' },
  ],
});

test('it is installed with its dependencies, from tarballs alone', async ({ folder }) => {
  const lock = JSON.parse(await readFile(join(folder, 'package-lock.json'), 'utf8'));
  const installed = Object.keys(lock.packages).filter((path) => path !== '');
  expect(installed.sort()).toEqual(
    [manifest.name, ...Object.keys(manifest.dependencies)].map((name) => `node_modules/${name}`).sort(),
  );
  expect(entries.length).toBeGreaterThanOrEqual(4);
});

for (const [kind, extension, load] of [
  ['import', 'mjs', (name: string) => `await import('${name}')`],
  ['require', 'cjs', (name: string) => `require('${name}')`],
] as const) {
  for (const entry of entries.filter((each) => each[kind])) {
    test(`Node loads ${entry.name}, ${kind}`, async ({ folder }) => {
      const file = join(folder, `${kind}-${entry.name.replaceAll('/', '-')}.${extension}`);
      await writeFile(file, `process.stdout.write(String(Object.keys(${load(entry.name)}).length));`);
      const { stdout, stderr } = await run(node, [file], { cwd: folder });
      expect(stderr).toBe('');
      expect(Number(stdout)).toBeGreaterThan(0);
    });
  }
}

test('ESM and CommonJS export the same names', async ({ folder }) => {
  for (const entry of entries.filter((each) => each.import && each.require)) {
    const names = (loaded: string) =>
      `Object.keys(${loaded}).filter((name) => !/^(default|module.exports)$/.test(name)).sort()`;
    const file = join(folder, 'same.mjs');
    await writeFile(
      file,
      `import { createRequire } from 'node:module';
      const required = createRequire(import.meta.url)('${entry.name}');
      console.log(JSON.stringify([${names(`await import('${entry.name}')`)}, ${names('required')}]));`,
    );
    const { stdout } = await run(node, [file], { cwd: folder });
    const [imported, required] = JSON.parse(stdout);
    expect(required, entry.name).toEqual(imported);
  }
});

test('the JSON files that are exported are there', async ({ folder }) => {
  const files = Object.entries<unknown>(manifest.exports).filter(([, target]) => typeof target === 'string');
  const names = files.map(([subpath]) => manifest.name + subpath.slice(1));
  await writeFile(join(folder, 'json.cjs'), names.map((name) => `require('${name}');`).join('\n'));
  await run(node, ['json.cjs'], { cwd: folder });
});

const ALL_ESM = `${entries.map(({ name }, index) => `import * as entry${index} from '${name}';`).join('\n')}
export const all: object[] = [${entries.map((_, index) => `entry${index}`)}];\n`;
const REQUIRED = entries.filter((entry) => entry.require);
const ALL_CJS = `${REQUIRED.map(({ name }, index) => `import entry${index} = require('${name}');`).join('\n')}
export const all: object[] = [${REQUIRED.map((_, index) => `entry${index}`)}];\n`;

/** How TypeScript is told to find packages, and what is compiled so. */
const RESOLUTIONS = [
  { name: 'node16', options: { module: 'Node16' }, files: { 'all.mts': ALL_ESM, 'all.cts': ALL_CJS } },
  // Only here are the package's own declarations checked, too: that takes a while.
  {
    name: 'nodenext',
    options: { module: 'NodeNext', skipLibCheck: false },
    files: { 'all.mts': ALL_ESM, 'all.cts': ALL_CJS },
  },
  {
    name: 'bundler',
    options: { module: 'ESNext', moduleResolution: 'Bundler' },
    files: { 'all.ts': ALL_ESM },
  },
];

for (const { name, options, files } of RESOLUTIONS) {
  test(`TypeScript finds every entry and its types: ${name}`, async ({ folder }) => {
    const place = join(folder, name);
    await mkdir(place);
    for (const [file, source] of Object.entries(files)) await writeFile(join(place, file), source);
    await copyFile(join(root, 'test/types/public-types.ts'), join(place, 'public-types.ts'));
    await writeFile(join(place, 'package.json'), '{ "type": "module" }');
    const compilerOptions = {
      target: 'ES2022',
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      types: ['node'],
      ...options,
    };
    await writeFile(join(place, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
    const { stdout } = await run(process.execPath, [tsc, '--pretty', 'false', '-p', place], { cwd: folder }).catch(
      (error) => error,
    );
    // What another package has wrong in its own declarations is not for us to mend.
    const errors = String(stdout)
      .split('\n')
      .filter(
        (line) => /error TS/.test(line) && (!line.includes('node_modules') || line.includes(`/${manifest.name}/`)),
      );
    expect(errors).toEqual([]);
  });
}

test('a wrong use of the package is an error of the compiler: the test above can fail', async ({ folder }) => {
  const place = join(folder, 'wrong');
  await mkdir(place);
  await writeFile(
    join(place, 'wrong.mts'),
    `import { withHostedBrowsers } from 'poolwright';
    export * from 'poolwright/no-such-entry';
    withHostedBrowsers({}, { pol: 'x' });`,
  );
  const compilerOptions = { target: 'ES2022', module: 'NodeNext', strict: true, noEmit: true, skipLibCheck: true };
  await writeFile(join(place, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
  const { stdout } = await run(process.execPath, [tsc, '--pretty', 'false', '-p', place]).catch((error) => error);
  expect(stdout).toMatch(/wrong\.mts\(2,.*TS2(307|882)/);
  expect(stdout).toMatch(/wrong\.mts\(3,.*'pol'/);
});
