import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { test as base, expect } from '@playwright/test';
import ts from 'typescript';
import { entriesOf } from '../../../scripts/package/entries.mjs';
import { npm } from '../../../scripts/package/pack.mjs';
import { COMPILE_CACHE } from '../../support/e2e/run-command.ts';

/**
 * The tarball to publish, installed by npm without a network, in all ways in which Node and TypeScript resolve a
 * package.
 */

const root = resolve(import.meta.dirname, '../../..');
const run = promisify(execFile);
const manifest = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
const entries = entriesOf(manifest);
const INSTALLED: string[] = [manifest.name, ...Object.keys(manifest.dependencies)];
const PEERS = ['playwright', ...Object.keys(manifest.peerDependencies)];
/** `node scripts/package/nodes.mjs` replaces it with another version. */
const node = process.env.TEST_NODE ?? process.execPath;

// A single worker inspects the package, so that it is installed only once.
base.describe.configure({ mode: 'default' });

const test = base.extend<object, { directory: string }>({
  directory: [
    async ({}, use) => {
      const directory = await mkdtemp(join(tmpdir(), 'poolwright-consumer-'));
      const places = [root, ...Object.keys(manifest.dependencies).map((name) => join(root, 'node_modules', name))];
      const options = ['--json', '--ignore-scripts', '--pack-destination', directory];
      const packed: { name: string; filename: string }[] = JSON.parse(npm(['pack', ...places, ...options]));
      const files = packed.map(({ name, filename }) => [name, `file:${join(directory, filename)}`]);
      const dependencies: Record<string, string> = Object.fromEntries(files);
      await writeFile(join(directory, 'package.json'), JSON.stringify({ private: true, dependencies }));
      npm(['install', '--offline', '--ignore-scripts', '--no-audit', '--no-fund', '--omit=peer'], directory);
      // Packages that a user has installed beside it. They are linked, not fetched from the registry.
      for (const name of [...PEERS, '@types/node', '@types/mocha']) {
        const installed = join(root, 'node_modules', name);
        const link = join(directory, 'node_modules', name);
        if (!existsSync(installed) || existsSync(link)) continue;
        await mkdir(dirname(link), { recursive: true });
        await symlink(installed, link, 'junction');
      }
      await use(directory);
      await rm(directory, { recursive: true });
    },
    { scope: 'worker' },
  ],
});

/** Returns the bytes of all files below a directory. */
async function sizeOf(directory: string): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) bytes += (await stat(join(entry.parentPath, entry.name))).size;
  return bytes;
}

test('the package › installs offline with its dependencies: three packages, at most 15 MB', async ({ directory }) => {
  const lock = JSON.parse(await readFile(join(directory, 'package-lock.json'), 'utf8'));
  const installed = Object.keys(lock.packages).filter((path) => path !== '');
  expect(installed.sort()).toEqual(INSTALLED.map((name) => `node_modules/${name}`).sort());
  expect(installed).toHaveLength(3);
  expect(entries.length).toBeGreaterThanOrEqual(4);
  const sizes = await Promise.all(installed.map((path) => sizeOf(join(directory, path))));
  expect(sizes.reduce((sum, size) => sum + size, 0) / 1e6).toBeLessThan(15);
});

test('Node › loads every entry, by import and by require, with the same names', async ({ directory }) => {
  const own = (names: string[]) => names.filter((name) => !/^(default|module\.exports)$/.test(name)).sort();
  const load = async (file: string, source: string): Promise<Record<string, string[]>> => {
    await writeFile(join(directory, file), `${source}\nprocess.stdout.write(JSON.stringify(names));`);
    const { stdout, stderr } = await run(node, [file], { cwd: directory });
    expect(stderr).toBe('');
    return JSON.parse(stdout);
  };
  const list = (kind: 'import' | 'require') =>
    JSON.stringify(entries.filter((each) => each[kind]).map(({ name }) => name));
  const imported = await load(
    'all.mjs',
    `const names = {}; for (const name of ${list('import')}) names[name] = Object.keys(await import(name));`,
  );
  const required = await load(
    'all.cjs',
    `const names = {}; for (const name of ${list('require')}) names[name] = Object.keys(require(name));`,
  );
  for (const [name, names] of Object.entries(imported)) expect(own(names).length, name).toBeGreaterThan(0);
  for (const [name, names] of Object.entries(required)) {
    expect(names.length, name).toBeGreaterThan(0);
    if (imported[name]) expect(own(names), name).toEqual(own(imported[name]));
  }
});

test('Node › has the code of an entry once, however it is loaded', async ({ directory }) => {
  const both = entries.filter((each) => each.import && each.require && !each.name.endsWith('/jest')); // its ES modules
  const source = `
    import { createRequire } from 'node:module';
    const require = createRequire(import.meta.url);
    const twice = [];
    for (const name of ${JSON.stringify(both.map(({ name }) => name))}) {
      const required = require(name);
      const { 'module.exports': _all, ...imported } = await import(name);
      for (const key of Object.keys(imported)) if (imported[key] !== required[key]) twice.push(name + ' ' + key);
    }
    console.log(JSON.stringify(twice));`;
  await writeFile(join(directory, 'once.mjs'), source);
  const { stdout } = await run(node, ['once.mjs'], { cwd: directory });
  expect(both.length).toBeGreaterThan(5);
  expect(JSON.parse(stdout)).toEqual([]);
});

test('the package › contains the SBOM and the licences, and runs no script when it is installed', async ({
  directory,
}) => {
  for (const file of ['dist/sbom.cdx.json', 'dist/THIRD_PARTY_LICENSES.txt', 'LICENSE'])
    expect(existsSync(join(directory, 'node_modules', manifest.name, file)), file).toBe(true);
  for (const name of ['preinstall', 'install', 'postinstall']) expect(manifest.scripts).not.toHaveProperty(name);
});

test('the package › contains the JSON files that it exports', async ({ directory }) => {
  const files = Object.entries<unknown>(manifest.exports).filter(([, target]) => typeof target === 'string');
  const names = files.map(([subpath]) => manifest.name + subpath.slice(1));
  await writeFile(join(directory, 'json.cjs'), names.map((name) => `require('${name}');`).join('\n'));
  await run(node, ['json.cjs'], { cwd: directory });
});

const ALL_ESM = `${entries.map(({ name }, index) => `import * as entry${index} from '${name}';`).join('\n')}
export const all: object[] = [${entries.map((_, index) => `entry${index}`)}];\n`;
const REQUIRED = entries.filter((entry) => entry.hasCommonJsTypes);
/** In a CommonJS package, Vitest still runs `import`. */
const VITEST = `import { type HostedFixtures, test } from 'poolwright/vitest';
  test('a', ({ page }: HostedFixtures) => void page.url());`;
const ALL_CJS = `${REQUIRED.map(({ name }, index) => `import entry${index} = require('${name}');`).join('\n')}
export const all: object[] = [${REQUIRED.map((_, index) => `entry${index}`)}];\n`;

/** Wrong uses of the package: their errors prove that the test below can fail. */
const WRONG = `import { withHostedBrowsers } from 'poolwright';
  export * from 'poolwright/no-such-entry';
  withHostedBrowsers({}, { pol: 'x' });`;

/** The globals of Jest tests, and the properties of `this` in Mocha tests. */
const IN_JEST = `import { type EnvironmentOptions, setup, teardown } from 'poolwright/jest';
  export const title: Promise<string> = page.title();
  export const same: boolean = context === page.browserContext() && browser.connected;
  export const id: string = hostedSession.sessionId;
  export const options: EnvironmentOptions = { isolate: 'test' };
  export { setup, teardown };
  // @ts-expect-error there is none
  hostedSession.cdpUrl;`;
const IN_MOCHA = `import { hosted } from 'poolwright/mocha';
  it('has types', async function () {
    const title: string = await this.page.title();
    const other: string = await (await hosted.page()).title();
    const { sessionId }: { sessionId: string } = this.hostedSession;
    this.timeout(5);
    // @ts-expect-error a title is not a number
    const wrong: number = await this.page.title();
    console.log(title, other, sessionId, wrong);
  });`;

/** TypeScript's module resolutions, and the files compiled with each. */
const RESOLUTIONS = [
  {
    name: 'node16',
    options: { module: ts.ModuleKind.Node16 },
    files: { 'all.mts': ALL_ESM, 'all.cts': ALL_CJS, 'vitest.cts': VITEST },
  },
  {
    name: 'nodenext',
    // Only this case checks the package's own declarations, too.
    options: { module: ts.ModuleKind.NodeNext, skipLibCheck: false },
    files: { 'all.mts': ALL_ESM, 'all.cts': ALL_CJS, 'vitest.cts': VITEST, 'jest.mts': IN_JEST, 'wrong.mts': WRONG },
  },
  {
    name: 'bundler',
    options: { module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler },
    files: { 'all.ts': ALL_ESM },
  },
  {
    name: 'mocha',
    options: { module: ts.ModuleKind.NodeNext, types: ['node', 'mocha'] },
    files: { 'mocha.mts': IN_MOCHA },
  },
];

/** Returns a host that parses the declarations of other packages once for all programs. */
function sharingHost(options: ts.CompilerOptions, parsed: Map<string, ts.SourceFile | undefined>): ts.CompilerHost {
  const host = ts.createCompilerHost(options);
  return {
    ...host,
    getSourceFile: (file, target, ...rest) => {
      const { impliedNodeFormat } = typeof target === 'object' ? target : {};
      const key = `${file} ${impliedNodeFormat}`;
      if (!file.endsWith('.d.ts') || file.includes(`/${manifest.name}/`))
        return host.getSourceFile(file, target, ...rest);
      if (!parsed.has(key)) parsed.set(key, host.getSourceFile(file, target, ...rest));
      return parsed.get(key);
    },
  };
}

test('TypeScript › resolves every entry with its types, and rejects wrong uses', { tag: '@slow' }, async ({
  directory,
}) => {
  const parsed = new Map<string, ts.SourceFile | undefined>();
  for (const { name, options, files } of RESOLUTIONS) {
    const place = join(directory, name);
    await mkdir(place);
    for (const [file, source] of Object.entries(files)) await writeFile(join(place, file), source);
    await copyFile(join(root, 'test/types/public-types.ts'), join(place, 'public-types.ts'));
    await writeFile(join(place, 'package.json'), '{ "type": "module" }');
    const names = [...Object.keys(files), 'public-types.ts'].map((file) => join(place, file));
    const compilerOptions: ts.CompilerOptions = {
      target: ts.ScriptTarget.ES2022,
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      types: ['node'],
      typeRoots: [join(directory, 'node_modules/@types')],
      ...options,
    };
    const program = ts.createProgram(names, compilerOptions, sharingHost(compilerOptions, parsed));
    // Errors in another package's declarations are not ours to fix.
    const ours = program
      .getSourceFiles()
      .filter(({ fileName }) => !fileName.includes('node_modules') || fileName.includes(`/${manifest.name}/`));
    const errors = [
      ...program.getOptionsDiagnostics(),
      ...ours.flatMap((file) => [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)]),
    ].map(({ file, start, code, messageText }) => {
      const line = file && start !== undefined ? file.getLineAndCharacterOfPosition(start).line + 1 : 0;
      return `${basename(file?.fileName ?? '')}(${line}): TS${code}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`;
    });
    expect(ours.length, name).toBeGreaterThan(names.length);
    const expected = [/^wrong\.mts\(2\): TS2(307|882)/, /^wrong\.mts\(3\): .*'pol'/];
    expect(errors, name).toEqual('wrong.mts' in files ? expected.map((error) => expect.stringMatching(error)) : []);
  }
});

test('the package › imports only installed packages, and has the licence of every bundled one', async ({
  directory,
}) => {
  const dist = join(directory, 'node_modules/poolwright/dist');
  const known = new Set([...INSTALLED, ...PEERS]);
  const asked = new Set<string>();
  for (const name of (await readdir(dist)).filter((each) => /\.(c?js|d\.c?ts)$/.test(each))) {
    const source = await readFile(join(dist, name), 'utf8');
    // A statement starts a line and contains a valid package name.
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

test("import 'poolwright' › loads no zod, no client and no reporter", async ({ directory }) => {
  const hooks = `export async function load(url, context, next) {
    process._rawDebug('loaded ' + url);
    return await next(url, context);
  }`;
  const script = `
    import { register } from 'node:module';
    await import('@playwright/test');
    register(${JSON.stringify(`data:text/javascript,${encodeURIComponent(hooks)}`)}, import.meta.url);
    await import('poolwright');`;
  await writeFile(join(directory, 'loaded.mjs'), script);
  const { stderr } = await run(process.execPath, ['loaded.mjs'], { cwd: directory });
  const loaded = [...stderr.matchAll(/^loaded file:\/\/(.*)$/gm)].map(([, path = '']) => decodeURIComponent(path));
  const ours = loaded.filter((path) => path.startsWith(join(directory, 'node_modules')));
  expect(ours.some((path) => path.endsWith('/dist/index.js'))).toBe(true);
  expect(ours.filter((path) => !path.includes('/node_modules/poolwright/dist/'))).toEqual([]);
  const sources = await Promise.all(ours.map((path) => readFile(path, 'utf8')));
  // One word each that occurs only in zod, in the client, in the reporter and in undici.
  for (const word of ['ZodObject', 'ServiceClient', 'PoolwrightReporter', 'kDispatcher'])
    expect(sources.filter((source) => new RegExp(`\\b(class|var|function) ${word}\\b`).test(source))).toEqual([]);
  expect(sources.join('').length).toBeLessThan(150_000);

  const required = await run(
    process.execPath,
    ['-e', `require('poolwright'); console.log(Object.keys(require.cache).join('\\n'))`],
    { cwd: directory },
  );
  const cached = required.stdout.split('\n').filter((path) => path.startsWith(join(directory, 'node_modules')));
  expect(cached.some((path) => path.endsWith('/dist/index.cjs'))).toBe(true);
  expect(cached.filter((path) => !path.includes('/node_modules/poolwright/dist/'))).toEqual([]);
});

test('the package › has the templates of init', async ({ directory }) => {
  const suite = join(directory, 'suite');
  await mkdir(suite);
  await writeFile(join(suite, 'package.json'), JSON.stringify({ devDependencies: { '@playwright/test': '*' } }));
  await writeFile(join(suite, 'playwright.config.mjs'), 'export default {};');
  const init = [join(directory, 'node_modules/poolwright/dist/cli.js'), 'init', '--ci', 'github', '--dry-run'];
  const { stdout } = await run(node, [...init, '--browsers', 'provider'], { cwd: suite });
  expect(stdout).toContain('poolwright sweep');
  expect(stdout).toContain('defineProvider');
  await rm(suite, { recursive: true });
});

test('the package › runs a suite', async ({ directory }) => {
  await writeFile(
    join(directory, 'playwright.config.ts'),
    `import { withHostedBrowsers } from 'poolwright';
    export default withHostedBrowsers({ testDir: '.', reporter: 'line' });`,
  );
  await writeFile(
    join(directory, 'a.spec.ts'),
    `import { expect, test } from '@playwright/test';
    test('one', async ({ page }) => {
      await page.goto('data:text/html,<h1>hello</h1>');
      await expect(page.locator('h1')).toHaveText('hello');
    });`,
  );
  const { CI: _ci, ...env } = process.env;
  const { stdout } = await run(process.execPath, [join(root, 'node_modules/@playwright/test/cli.js'), 'test'], {
    cwd: directory,
    env: { ...env, TEST_WORKER_INDEX: undefined, NODE_OPTIONS: COMPILE_CACHE },
  });
  expect(stdout).toContain('1 passed');
});
