import { defineConfig, type Options } from 'tsup';
import { commonJs } from './scripts/commonjs.mjs';
import { licences } from './scripts/licences.mjs';
import { PAGES } from './scripts/pages.mjs';

/** What users import: ESM, CommonJS and types. */
const publicEntries = {
  index: 'src/index.ts',
  client: 'src/service/index.ts',
  emulator: 'src/emulator/index.ts',
  reporter: 'src/reporter/index.ts',
  puppeteer: 'src/puppeteer/index.ts',
  mocha: 'src/puppeteer/runners/mocha/index.ts',
  'node-test': 'src/puppeteer/runners/node-test/index.ts',
  'playwright-library': 'src/playwright/library.ts',
};

/** Playwright loads its global setup the way it loads a config. */
const setupEntry = { 'global-setup': 'src/playwright/setup/global-setup.ts' };

/** ES modules alone: Vitest itself cannot be required. */
const vitestEntry = { vitest: 'src/puppeteer/runners/vitest/index.ts' };

const jestTypes = { jest: 'src/puppeteer/runners/jest/index.ts' };

/** What Jest loads by path, itself, outside of the tests. ES modules, because CommonJS has no `import()` in our build. */
const jestEntries = {
  'jest-environment': 'src/puppeteer/runners/jest/environment.ts',
  'jest-global-setup': 'src/puppeteer/runners/jest/global-setup.ts',
  'jest-global-teardown': 'src/puppeteer/runners/jest/global-teardown.ts',
  'jest-reporter': 'src/puppeteer/runners/jest/reporter.ts',
};

// Child processes and the command line are run by path.
const { client, emulator, ...loadedByRuns } = publicEntries;
const runEntries = {
  ...loadedByRuns,
  ...setupEntry,
  ...vitestEntry,
  ...jestTypes,
  ...jestEntries,
  'broker-main': 'src/broker/process/main.ts',
  'node-test-run': 'src/puppeteer/runners/node-test/runner-thread.ts',
};
const otherEntries = { client, emulator, 'emulator-main': 'src/emulator/main.ts', cli: 'src/cli/main.ts' };

/**
 * Puts in place of `options/schema/check.ts` a module that loads it when there are options to check. Zod takes longer to load
 * than all the rest of `import 'poolwright'`, and a worker's options have been checked by its runner. By `require`,
 * because a config cannot wait for an `import()`.
 */
const checkLazily: NonNullable<Options['esbuildPlugins']>[number] = {
  name: 'check-lazily',
  setup(build) {
    build.onLoad({ filter: /[\\/]schema[\\/]check\.ts$/ }, () => ({
      contents: `
        import { createRequire } from 'node:module';
        const load = () => createRequire(import.meta.url)('./options.cjs');
        export const checkHostedOptions = (value) => load().checkHostedOptions(value);
        export const checkProjectOptions = (value) => load().checkProjectOptions(value);`,
    }));
  },
};

/** Puts in place of `cli/init/libraries.ts` the file that is built of it, minified. */
const ownLibraries: NonNullable<Options['esbuildPlugins']>[number] = {
  name: 'own-libraries',
  setup(build) {
    build.onResolve({ filter: /[\\/]libraries\.ts$/ }, () => ({ path: './init-libraries.js', external: true }));
  },
};

const REQUIRE =
  "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);";

/** What every build of ours has. */
export const shared: Options = {
  target: 'node20',
  platform: 'node',
  outDir: 'dist',
  // `node:test` has no other name.
  removeNodeProtocol: false,
  // Whoever installs the package reads its code as it is: nothing is minified.
  sourcemap: false,
  // What is bundled may be CommonJS and ask for Node's own modules.
  banner: ({ format }) => (format === 'esm' ? { js: REQUIRE } : {}),
  esbuildPlugins: [checkLazily, ownLibraries, licences],
  // Every entry lies flat in dist/, so that `distFile()` finds its neighbours from any chunk.
  shims: true,
};

/** What runs in browsers. */
const inBrowsers: Options = {
  ...shared,
  format: ['iife'],
  platform: 'browser',
  target: PAGES.target,
  shims: false,
  minify: true,
  outExtension: () => ({ js: '.js' }),
};

export default defineConfig([
  // What every run loads: zod and undici are bundled too, because to load them from their own files takes twice as long.
  { ...shared, entry: runEntries, format: ['esm'], noExternal: ['zod', 'undici'] },
  { ...shared, entry: otherEntries, format: ['esm'] },
  {
    ...shared,
    entry: { ...loadedByRuns, ...setupEntry },
    format: ['cjs'],
    splitting: true,
    plugins: [commonJs],
    noExternal: ['zod'],
  },
  { ...shared, entry: { client, emulator }, format: ['cjs'], splitting: true, plugins: [commonJs] },
  // Unsplit: what Jest's users load in CommonJS leads to its ES modules by `import()`.
  {
    ...shared,
    entry: { ...jestTypes, 'jest-preset': 'src/puppeteer/runners/jest/preset.cjs' },
    format: ['cjs'],
    splitting: false,
  },
  // Vitest's in both, too: it runs tests of CommonJS packages as ES modules, which TypeScript does not know.
  { ...shared, entry: { ...publicEntries, ...jestTypes, ...vitestEntry }, format: ['esm', 'cjs'], dts: { only: true } },
  // Loaded synchronously, so by `require`, when there are options to check.
  {
    ...shared,
    esbuildPlugins: [licences],
    entry: { options: 'src/options/schema/check.ts' },
    format: ['cjs'],
    noExternal: ['zod'],
  },
  {
    ...shared,
    esbuildPlugins: [licences],
    entry: { 'init-libraries': 'src/cli/init/libraries.ts' },
    format: ['esm'],
    minify: true,
  },
  // Put into the timeline as it is.
  { ...inBrowsers, entry: { timeline: 'src/reporter/timeline/page/main.ts' } },
  // Read by their names.
  { ...inBrowsers, ...PAGES },
  {
    ...shared,
    entry: { timeline: 'src/reporter/timeline/page/style.css' },
    minify: true,
  },
]);
