import { defineConfig, type Options } from 'tsup';

/** What users import: ESM, CommonJS and types. */
const publicEntries = {
  index: 'src/index.ts',
  client: 'src/service/index.ts',
  emulator: 'src/emulator/index.ts',
  reporter: 'src/reporter/index.ts',
};

/**
 * Files that are run by path: child processes, the global setup, the command line. Playwright loads its global
 * setup the way it loads a config, so that one is built both ways.
 */
const processEntries = {
  'broker-main': 'src/broker/process/main.ts',
  'emulator-main': 'src/emulator/main.ts',
  cli: 'src/cli/main.ts',
};

const shared: Options = {
  target: 'node20',
  platform: 'node',
  outDir: 'dist',
  sourcemap: true,
  // Every entry lies flat in dist/, so that `distFile()` finds its neighbours from any chunk.
  shims: true,
};

export default defineConfig([
  {
    ...shared,
    entry: { ...publicEntries, 'global-setup': 'src/playwright/setup/global-setup.ts' },
    format: ['esm', 'cjs'],
    dts: { entry: publicEntries },
  },
  { ...shared, entry: processEntries, format: ['esm'] },
  // What runs in the browser of who looks at a timeline; it is put into the page as it is.
  {
    ...shared,
    entry: { timeline: 'src/reporter/timeline/page/main.ts' },
    format: ['iife'],
    platform: 'browser',
    target: 'es2023',
    sourcemap: false,
    shims: false,
    minify: true,
    outExtension: () => ({ js: '.js' }),
  },
  {
    ...shared,
    entry: { timeline: 'src/reporter/timeline/page/style.css' },
    sourcemap: false,
    minify: true,
  },
]);
