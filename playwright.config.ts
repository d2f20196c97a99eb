import { defineConfig } from '@playwright/test';
import type { Artefact } from './test/support/artefact.ts';

/** Tests of what the emulator and the transport load lazily: these run on what was built, too (package/lazy-loads.spec.ts). */
const LAZY = /@loads:/;

/**
 * The project's own tests. They run on the sources (unit, package, emulator, cdp) and on the built package (end to end), and start
 * what they need themselves: real Chromium, real processes, real sockets.
 */
export default defineConfig<{ artefact: Artefact }>({
  outputDir: 'test-results',
  forbidOnly: !!process.env.CI,
  // On two cores: one of three mostly waits, for a browser, a time limit or the end of a process.
  workers: 3,
  // Bounds on waits, not claims about speed: the machines that run this are shared and small.
  expect: { timeout: 15_000 },
  // What was built is tested as it is.
  build: { external: ['**/dist/**'] },
  reporter: [['list'], ['json', { outputFile: 'test-results/results.json' }]],
  projects: [
    { name: 'unit', testDir: 'test/unit', timeout: 120_000, fullyParallel: true },
    // What comes with the code: documentation, pipelines, workflows, builds. TypeScript over all of it, and linters.
    { name: 'package', testDir: 'test/package', timeout: 300_000, fullyParallel: true },
    { name: 'emulator', testDir: 'test/emulator', timeout: 60_000 },
    { name: 'cdp', testDir: 'test/cdp', timeout: 60_000, fullyParallel: true },
    ...(['esm', 'cjs'] as const).map((artefact) => ({
      name: `built-${artefact}`,
      testDir: 'test',
      testMatch: ['emulator/**/*.spec.ts', 'cdp/**/*.spec.ts'],
      grep: LAZY,
      timeout: 60_000,
      use: { artefact },
    })),
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
