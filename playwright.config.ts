import { defineConfig } from '@playwright/test';

/**
 * The project's own tests. They run on the sources (unit, emulator) and on the built package (end to end), and start
 * what they need themselves: real Chromium, real processes, real sockets.
 */
export default defineConfig({
  outputDir: 'test-results',
  forbidOnly: !!process.env.CI,
  // On two cores: one of three mostly waits, for a browser, a time limit or the end of a process.
  workers: 3,
  // Bounds on waits, not claims about speed: the machines that run this are shared and small.
  expect: { timeout: 15_000 },
  reporter: [['list'], ['json', { outputFile: 'test-results/results.json' }]],
  projects: [
    { name: 'unit', testDir: 'test/unit', timeout: 120_000, fullyParallel: true },
    { name: 'emulator', testDir: 'test/emulator', timeout: 60_000 },
    { name: 'cdp', testDir: 'test/cdp', timeout: 60_000, fullyParallel: true },
    // The long ones, and as many random runs as it takes to believe them, are in `npm run test:faults`.
    {
      name: 'faults',
      testDir: 'test/faults',
      timeout: 180_000,
      fullyParallel: true,
      ...(process.env.CHAOS_RUNS ? {} : { grepInvert: /@slow/ }),
    },
    { name: 'e2e', testDir: 'test/e2e', timeout: 180_000, fullyParallel: true },
  ],
});
