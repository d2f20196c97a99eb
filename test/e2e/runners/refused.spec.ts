import type { Consumer } from '../../support/e2e/consumer.ts';
import { expect, test } from '../../support/e2e/fixtures.ts';
import { recordRequests } from '../../support/e2e/requests.ts';
import { runCommand } from '../../support/e2e/run-command.ts';
import { kits, sharedTag } from '../../support/e2e/runner-kits.ts';
import { recordOf } from '../../support/e2e/runner-records.ts';

/** Puppeteer's runners on a service that has no browser for them: one message, and no avoidable requests. */

test.use({ browsers: 'stub' });

const GOES = { name: 'goes', body: `await page.goto('about:blank');` };

for (const kit of kits) {
  test.describe(kit.runner, () => {
    const write = async (consumer: Consumer, options = '{}') =>
      await consumer.write({
        ...kit.config,
        'poolwright.config.mjs': `export default ${options};`,
        ...Object.fromEntries([kit.file('a', [GOES]), kit.file('b', [GOES])]),
      });

    // Jest and Mocha have this test in their own files, with checks of their specific output.
    if (!['jest', 'mocha'].includes(kit.runner)) {
      test('402 › requests no further browser', async ({ newConsumer, service }) => {
        const match = { method: 'POST', path: '/v1/browser/session' } as const;
        await service.addFaults([{ match, effect: { status: 402, body: { error: 'Insufficient balance' } } }]);
        const consumer = await newConsumer('latest', 'commonjs', kit.packages);
        await write(consumer);
        const requests = recordRequests();
        const run = await runCommand(consumer, kit.args, service.env);
        requests.stop();
        expect(run.code, run.output).not.toBe(0);
        expect(run.output).toContain('402 "Insufficient balance". The workspace is out of credit');
        expect(requests.answered.filter(({ status }) => status === 402).length).toBeLessThanOrEqual(2);
        expect(await service.allSessions()).toBe(0);
      });
    }

    // The broker retries, whatever the runner; Jest and node:test have tests of the budget in their own files.
    if (['vitest', 'mocha'].includes(kit.runner)) {
      test('409 of a pool and 503 › retries; an exceeded budget fails the run', { tag: sharedTag(kit) }, async ({
        newConsumer,
        service,
      }) => {
        await service.client.createPool({ name: 'e2e', size: 1 });
        const match = { method: 'POST', path: '/v1/browser/pools/*/acquire' } as const;
        const busy = { error: 'No eligible node found', code: 'browser_capacity_unavailable' };
        const empty = { error: 'No browser is currently ready in this pool' };
        await service.addFaults([
          { match, effect: { status: 503, body: busy, headers: { 'Retry-After': '1' } }, count: 1 },
          { match, effect: { status: 409, body: empty }, count: 2 },
        ]);
        const consumer = await newConsumer('latest', 'commonjs', kit.packages);
        await write(consumer, `{ pool: 'e2e', fallback: 'fail', budget: { sessions: 0 } }`);
        const requests = recordRequests();
        const run = await runCommand(consumer, kit.args, service.env);
        requests.stop();
        expect(run.code, run.output).not.toBe(0);
        expect(run.output).toContain('budget exceeded: sessions is limited to 0');
        const { sessions } = await recordOf(consumer);
        expect(sessions).toMatchObject([{ source: 'pool', testsServed: 2, endConfirmed: true }]);
        expect(sessions.flatMap(({ tests }) => tests.map(({ status }) => status))).toEqual(['passed', 'passed']);
        const answers = requests.answered.filter(({ path }) => path.endsWith('/acquire')).map(({ status }) => status);
        expect(answers).toEqual(expect.arrayContaining([503, 409, 409, 200]));
        expect(await service.running()).toEqual([]);
      });
    }
  });
}
