import type { RunRecord } from '../../../src/record/run-record.ts';
import { test as base, expect } from '../../support/e2e/fixtures.ts';
import { runPlaywright } from '../../support/e2e/run-playwright.ts';
import { startService, type TestService } from '../../support/e2e/service.ts';
import { suite, wrappedConfig } from '../../support/e2e/suites.ts';

/** Whole runs on remote browsers. */

const RTT = 60;

const test = base.extend<{ service: TestService }>({
  service: async ({}, use) => {
    const service = await startService({ rtt: RTT });
    await use(service);
    await service.stop();
  },
});

const TESTS = suite(
  [1, 2, 3, 4]
    .map(
      (n) => `
      test('${n}', async ({ page }) => {
        await page.goto('/');
        await page.locator('h1').click();
        // Longer than the interval after which the browser's liveness is checked.
        if (${n} === 2) await page.waitForTimeout(6_000);
      });`,
    )
    .join(''),
);

test('saves round trips for contexts and reads with `ahead`', { tag: '@versions' }, async ({
  newConsumer,
  service,
  site,
}) => {
  const consumer = await newConsumer();
  const savedMs = async (options: string) => {
    await consumer.write({ 'playwright.config.ts': wrappedConfig(options), 'tests/a.spec.ts': TESTS });
    // The variable would override the option.
    const { POOLWRIGHT_AHEAD: _, ...env } = service.env;
    const run = await runPlaywright(consumer, ['--workers=1'], { ...env, SITE_URL: site.url });
    expect(run.code, run.output).toBe(0);
    const record: RunRecord = JSON.parse(await consumer.read('test-results/poolwright/run.json'));
    expect(record.sessions[0]?.roundTripMs).toBeGreaterThanOrEqual(RTT);
    expect(await service.running()).toEqual([]);
    return record.sessions.flatMap(({ tests }) => tests.map((each) => each.savedMs));
  };
  expect(await savedMs('{ ahead: false }')).toEqual([0, 0, 0, 0]);
  const [, , third = 0, fourth = 0] = await savedMs('{}');
  // Contexts and a click's reads take more than twelve round trips; without the contexts, it is half of that.
  for (const saved of [third, fourth]) expect(saved).toBeGreaterThan(10 * RTT);
});
