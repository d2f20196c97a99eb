import { expect, test } from '../../support/e2e/fixtures.ts';

/** Whole runs on remote browsers. */

const RTT = 60;

test.use({ serviceOptions: { rtt: RTT } });

const TESTS = [1, 2, 3, 4]
  .map(
    (n) => `
    test('${n}', async ({ page }) => {
      await page.goto('/');
      await page.locator('h1').click();
      // Longer than the interval after which the browser's liveness is checked.
      if (${n} === 2) await page.waitForTimeout(6_000);
    });`,
  )
  .join('');

test('`ahead` › saves round trips for contexts and reads', { tag: '@versions' }, async ({ runSuite }) => {
  const run = await runSuite({
    config: `projects: [{ name: 'off', grep: /1/, use: { hosted: { ahead: false } } }, { name: 'on', use: { hosted: { ahead: true } } }],`,
    tests: TESTS,
    args: ['--workers=1'],
    // The variable would override the option.
    env: { POOLWRIGHT_AHEAD: '' },
  });
  const { sessions } = await run.record();
  for (const { roundTripMs } of sessions) expect(roundTripMs).toBeGreaterThanOrEqual(RTT);
  // One browser serves both projects.
  const tests = sessions.flatMap((session) => session.tests);
  const savedMs = (name: string) => tests.filter(({ project }) => project === name).map((each) => each.savedMs);
  expect(savedMs('off')).toEqual([0]);
  const [, , third = 0, fourth = 0] = savedMs('on');
  // Contexts and a click's reads take more than twelve round trips; without the contexts, it is half of that. In full
  // Chromium, which scripts/versions.mjs names, pages have windows: the next context has no page yet.
  const least = process.env.POOLWRIGHT_CHROMIUM === undefined ? 10 : 7;
  for (const saved of [third, fourth]) expect(saved).toBeGreaterThan(least * RTT);
});
