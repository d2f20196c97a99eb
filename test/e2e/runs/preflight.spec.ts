import { expect, test } from '../../support/e2e/fixtures.ts';

/** Problems known before a run are printed before it, one line each; without problems, nothing is printed. */

test.use({ browsers: 'stub' });

const OPENS = `test('opens', async ({ page }) => { await page.goto('about:blank'); });`;
const warningsIn = (output: string) => output.split('\n').filter((line) => line.startsWith('poolwright: warning:'));

test.describe('a plan for three browsers, and an empty balance', () => {
  test.use({ serviceOptions: { concurrentBrowsers: 3, balanceCents: 0 } });

  test('warnings › name the plan, the balance, and pools that are too small or unhealthy', { tag: '@slow' }, async ({
    startSuite,
    service,
  }) => {
    const { client } = service;
    const small = await client.createPool({ name: 'small', size: 1 });
    const paused = await client.createPool({ name: 'paused', size: 4 });
    await client.updatePool(paused.id, { paused: true });
    const run = await startSuite({
      options: `{ pool: 'small' }`,
      config: `projects: [
        { name: 'a' }, { name: 'again' }, { name: 'b', use: { hosted: { pool: 'paused', fallback: 'fail', acquireTimeout: 2000 } } },
      ],`,
      tests: OPENS,
      args: ['--workers=2', '--shard=1/2'],
    });
    await run.exit;
    expect(warningsIn(run.output())).toEqual([
      'poolwright: warning: 2 workers × 2 shards want 4 browsers, and the plan allows 3 at once: some workers will wait for others to finish',
      "poolwright: warning: the workspace's balance is 0 cents: no browser will start (402)",
      `poolwright: warning: 2 workers × 2 shards want 4 browsers of pool small (${small.id}), which keeps 1 warm: the others take a browser's start longer`,
      `poolwright: warning: pool paused (${paused.id}) is paused: workers wait, and fail at \`acquireTimeout\` (\`fallback: 'fail'\`)`,
    ]);
  });
});

test.describe('a service that does not tell the plan', () => {
  const faults = [{ match: { path: '/v1/account/*' }, effect: { status: 403, body: { error: 'no' } }, count: 9 }];
  test.use({ serviceOptions: { concurrentBrowsers: 4, faults } });

  test('warnings › are absent when the capacity suffices as far as known', { tag: '@slow' }, async ({
    runSuite,
    service,
  }) => {
    await service.client.createPool({ name: 'e2e', size: 4 });
    const run = await runSuite({ options: `{ pool: 'e2e' }`, tests: OPENS, args: ['--workers=2', '--shard=1/2'] });
    expect(warningsIn(run.output)).toEqual([]);
  });
});
