import { defineConfig, type Options } from 'tsup';
import { commonJs, esModulesOf } from './scripts/build-plugins/commonjs.mjs';
import { licences } from './scripts/build-plugins/licences.mjs';
import { protocolWithoutDescriptions } from './scripts/build-plugins/protocol.mjs';
import { undiciClient } from './scripts/build-plugins/undici.mjs';
import { zodInEnglish } from './scripts/build-plugins/zod.mjs';
import { PAGES } from './scripts/pages.mjs';

/** What users import or require: the same CommonJS, and types. */
const publicEntries = {
  index: 'src/index.ts',
  client: 'src/service/index.ts',
  emulator: 'src/emulator/index.ts',
  reporter: 'src/report/index.ts',
  provider: 'src/providers/index.ts',
  puppeteer: 'src/clients/puppeteer/lease-browser.ts',
  mocha: 'src/runners/mocha/index.ts',
  'node-test': 'src/runners/node-test/index.ts',
  'playwright-library': 'src/clients/playwright/lease-browser.ts',
};
const { client, emulator, ...loadedByRuns } = publicEntries;
/** Vitest itself cannot be required: its CommonJS has only types. */
const esmOnly = {
  vitest: 'src/runners/vitest/index.ts',
};
/** Unsplit in CommonJS: what Jest's users load in it leads to its ES modules by `import()`. */
const unsplit = {
  jest: 'src/runners/jest/index.ts',
};
/** What has types, with its source. */
export const typedEntries = { ...publicEntries, ...unsplit, ...esmOnly };
const presets = {
  'jest-preset': 'src/runners/jest/preset.cjs',
};
/** Playwright loads them by path, and CommonJS faster. */
const setup = {
  'global-setup': 'src/runners/playwright-test/setup/global-setup.ts',
  'run-reporter': 'src/report/reporter.ts',
};
/** Loaded by the config in the runner's process, not in the workers'. */
const ofRunner = {
  options: 'src/options/schema/check.ts',
  'refused-config': 'src/runners/playwright-test/config/refused-config.ts',
  workers: 'src/runners/playwright-test/config/workers.ts',
};
/** Loaded by a worker whose tests launch browsers themselves. */
const ofWorkers = { 'hosted-launch': 'src/endpoint/hosted-launch.ts' };
/** Loaded or run by path. Jest's in ES modules only, because CommonJS has no `import()` in our build. */
const byPath = {
  'broker-main': 'src/broker/main.ts',
  'provider-main': 'src/providers/module/main.ts',
  // Here, because it shares the transport with what workers load.
  'relay-lease': 'src/relay/lease/main.ts',
  'node-test-run': 'src/runners/node-test/runner-thread.ts',
  'jest-environment': 'src/runners/jest/environment.ts',
  'jest-global-setup': 'src/runners/jest/global-setup.ts',
  'jest-global-teardown': 'src/runners/jest/global-teardown.ts',
  'jest-reporter': 'src/runners/jest/reporter.ts',
};
/** Libraries are entries so that they get separate files, which the build minifies. */
const commands = {
  'emulator-main': 'src/emulator/main.ts',
  cli: 'src/cli/main.ts',
  browser: 'src/endpoint/program/main.ts',
  'init-libraries': 'src/cli/init/libraries.ts',
  'zod-library': 'node_modules/zod/index.js',
};

/** Bundled CommonJS asks for Node's own modules. */
const REQUIRE =
  "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);";

/** Every entry lies flat in dist/, so that `distFile()` finds its neighbours from any chunk. */
export const shared: Options = {
  target: 'node20',
  platform: 'node',
  outDir: 'dist',
  removeNodeProtocol: false, // `node:test` has no other name
  sourcemap: false, // users can read the installed code: it is not minified
  banner: ({ format }) => (format === 'esm' ? { js: REQUIRE } : {}),
  esbuildPlugins: [licences],
  shims: true,
};
const esm: Options = { ...shared, format: ['esm'] };
const cjs: Options = { ...shared, format: ['cjs'], splitting: true };
/** Runs load their entries from the installed package; client and emulator may be parts of a user's program. */
const entriesOfRuns = [commonJs, esModulesOf(Object.keys(loadedByRuns), { isBundled: false })];
const entriesOfPrograms = [commonJs, esModulesOf(['client', 'emulator'], { isBundled: true })];
/** Loaded by workers that proxy requests: an entry so that it gets a separate file, which is minified. */
const libraries = { 'undici-library': 'src/cdp/network/send/undici-library.ts' };
/** What every run loads. To load zod and undici from their own files takes twice as long. */
const forRuns: Options = { noExternal: ['zod', 'undici'], esbuildPlugins: [licences, undiciClient] };
const forCommands: Options = { noExternal: ['zod'], esbuildPlugins: [licences, zodInEnglish] };
/** Read by an endpoint that is asked for it. */
const data: Options = {
  ...cjs,
  entry: { protocol: 'src/endpoint/protocol.ts' },
  noExternal: ['devtools-protocol'],
  esbuildPlugins: [licences, protocolWithoutDescriptions],
  minify: true,
};
const inBrowsers: Options = { ...shared, platform: 'browser', format: ['iife'], target: PAGES.target, shims: false };
const page: Options = { ...inBrowsers, minify: true, outExtension: () => ({ js: '.js' }) };

/** The CommonJS of this library cannot be bundled. */
function withEsModules(options: { alias?: Record<string, string> }) {
  options.alias = { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' };
}

const builds: Options[] = [
  { ...esm, ...forRuns, entry: { ...esmOnly, ...unsplit, ...byPath } },
  { ...esm, ...forCommands, entry: commands, esbuildOptions: withEsModules },
  {
    ...cjs,
    ...forRuns,
    plugins: entriesOfRuns,
    entry: { ...loadedByRuns, ...setup, ...libraries, ...ofRunner, ...ofWorkers },
  },
  data,
  { ...cjs, plugins: entriesOfPrograms, entry: { client, emulator } },
  { ...shared, entry: { ...unsplit, ...presets }, format: ['cjs'], splitting: false },
  {
    ...page,
    entry: {
      timeline: 'src/report/timeline/page/main.ts',
      film: 'src/features/film/page/main.ts',
      watch: 'src/watch/page/main.ts',
    },
  },
  { ...page, ...PAGES },
  {
    ...shared,
    entry: {
      timeline: 'src/report/timeline/page/style.css',
      film: 'src/features/film/page/style.css',
      watch: 'src/watch/page/style.css',
    },
    minify: true,
  },
];

// Without a feature (scripts/without.mjs), a build may have no entry left, which tsup refuses.
export default defineConfig(builds.filter(({ entry = {} }) => Object.keys(entry).length > 0));
