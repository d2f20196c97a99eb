import { availableParallelism } from 'node:os';
import { setFlagsFromString } from 'node:v8';
import { defineConfig, type Project } from '@playwright/test';
import { gearOf, inGear } from './test/gears.ts';
import type { Artefact } from './test/support/artefact.ts';

// As in the broker (src/broker/main.ts): a worker that makes one request with undici takes 0.12 s less.
setFlagsFromString('--liftoff-only');

/**
 * Tests of what the emulator and the transport load lazily: these run on what was built, too
 * (package/lazy-loads.spec.ts).
 */
const LAZY = /@loads:/;

/** Repetitions, for which a test beside them finds the same fault: `node scripts/long.mjs`. */
const BRIEF = process.env.POOLWRIGHT_RUNS === 'all' ? {} : { grepInvert: /@slow/ };

/** Playwright computes those without a value before each test, which takes longer than most unit tests. */
const NO_PAGE = Object.fromEntries(
  [
    ...['acceptDownloads', 'baseURL', 'bypassCSP', 'clientCertificates', 'colorScheme', 'contrast'],
    ...['deviceScaleFactor', 'extraHTTPHeaders', 'forcedColors', 'geolocation', 'hasTouch', 'httpCredentials'],
    ...['ignoreHTTPSErrors', 'isMobile', 'javaScriptEnabled', 'locale', 'offline', 'permissions', 'proxy'],
    ...['reducedMotion', 'screen', 'serviceWorkers', 'storageState', 'timezoneId', 'userAgent', 'viewport'],
  ].map((option) => [option, null]),
);

/**
 * The project's own tests. They run on the sources (unit, package, emulator, cdp) and on the built package (end to
 * end), and start what they need themselves: real Chromium, real processes, real sockets.
 */
export default defineConfig<{ artefact: Artefact }>({
  outputDir: 'test-results',
  forbidOnly: !!process.env.CI,
  // On two cores: most of five wait, for a browser, a time limit or the end of a process.
  workers: 5,
  // Bounds on waits, here and below, not claims about speed: the machines that run this are shared and small.
  expect: { timeout: 60_000 },
  // What was built is tested as it is.
  build: { external: ['**/dist/**'] },
  reporter: [['list'], ['json', { outputFile: 'test-results/results.json' }], ['./test/support/gear-reporter.ts']],
  projects: inGear<Project<{ artefact: Artefact }>>(gearOf(process.env.POOLWRIGHT_GEAR), [
    // Those that wait most come first: what needs the processor all the time fills the gaps at the end. It takes half a
    // minute to notice that a process hangs: one worker waits for that, and the others use the processor. The long
    // ones, and as many random runs as it takes to believe them: `node scripts/faults.mjs`.
    {
      name: 'faults',
      testDir: 'test/faults',
      timeout: 300_000,
      fullyParallel: true,
      ...(process.env.CHAOS_RUNS ? {} : { grepInvert: /@slow/, workers: 1 }),
    },
    {
      name: 'e2e',
      testDir: 'test/e2e',
      timeout: 300_000,
      fullyParallel: true,
      ...BRIEF,
    },
    // A file's tests share a worker, and with it browsers: most start in less time than a worker loads.
    { name: 'cdp', testDir: 'test/cdp', timeout: 180_000, ...BRIEF },
    { name: 'emulator', testDir: 'test/emulator', timeout: 180_000, ...BRIEF },
    ...(['esm', 'cjs'] as const).map((artefact) => ({
      name: `built-${artefact}`,
      testDir: 'test',
      testMatch: ['emulator/**/*.spec.ts', 'cdp/**/*.spec.ts'],
      grep: LAZY,
      timeout: 180_000,
      use: { artefact },
    })),
    // What comes with the code: documentation, pipelines, workflows, builds. TypeScript over all of it, and linters.
    { name: 'package', testDir: 'test/package', timeout: 300_000, fullyParallel: true },
    // A third of their time is waits for timers and processes.
    { name: 'unit', testDir: 'test/unit', timeout: 120_000, workers: availableParallelism() + 1, use: NO_PAGE },
  ]),
});
