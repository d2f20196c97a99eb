import { expect, test } from '../../support/e2e/fixtures.ts';
import { runPlaywright } from '../../support/e2e/run-playwright.ts';
import { startService } from '../../support/e2e/service.ts';
import { suite, wrappedConfig } from '../../support/e2e/suites.ts';

/** Problems known before a run are printed before it, one line each; without problems, nothing is printed. */

const OPENS = suite(`test('opens', async ({ page }) => { await page.goto('about:blank'); });`);
const warningsIn = (output: string) => output.split('\n').filter((line) => line.startsWith('poolwright: warning:'));

test('warns when workers × shards exceed the plan, about pools that are too small or unhealthy, and about the balance', async ({
  newConsumer,
}) => {
  const service = await startService({ browser: 'stub', concurrentBrowsers: 3, balanceCents: 0 });
  try {
    const { client, env } = service;
    const small = await client.createPool({ name: 'small', size: 1 });
    const paused = await client.createPool({ name: 'paused', size: 4 });
    await client.updatePool(paused.id, { paused: true });
    const consumer = await newConsumer();
    await consumer.write({
      'playwright.config.ts': wrappedConfig(
        `{ pool: 'small' }`,
        `projects: [
          { name: 'a' }, { name: 'again' }, { name: 'b', use: { hosted: { pool: 'paused', fallback: 'fail', acquireTimeout: 2000 } } },
        ],`,
      ),
      'tests/a.spec.ts': OPENS,
    });
    const run = await runPlaywright(consumer, ['--workers=2', '--shard=1/2'], env);
    expect(warningsIn(run.output)).toEqual([
      'poolwright: warning: 2 workers × 2 shards want 4 browsers, and the plan allows 3 at once: some workers will wait for others to finish',
      "poolwright: warning: the workspace's balance is 0 cents: no browser will start (402)",
      `poolwright: warning: 2 workers × 2 shards want 4 browsers of pool small (${small.id}), which keeps 1 warm: the others take a browser's start longer`,
      `poolwright: warning: pool paused (${paused.id}) is paused: workers wait, and fail at \`acquireTimeout\` (\`fallback: 'fail'\`)`,
    ]);
  } finally {
    await service.stop();
  }
});

test('prints nothing when the capacity suffices as far as known', async ({ newConsumer }) => {
  const service = await startService({
    browser: 'stub',
    concurrentBrowsers: 4,
    faults: [{ match: { path: '/v1/account/*' }, effect: { status: 403, body: { error: 'no' } }, count: 9 }],
  });
  try {
    await service.client.createPool({ name: 'e2e', size: 4 });
    const consumer = await newConsumer();
    await consumer.write({ 'playwright.config.ts': wrappedConfig(`{ pool: 'e2e' }`), 'tests/a.spec.ts': OPENS });
    const run = await runPlaywright(consumer, ['--workers=2', '--shard=1/2'], service.env);
    expect(run.code, run.output).toBe(0);
    expect(warningsIn(run.output)).toEqual([]);
  } finally {
    await service.stop();
  }
});
