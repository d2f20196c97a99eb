import type { Consumer } from '../../support/e2e/consumer.ts';
import { test as base, expect } from '../../support/e2e/fixtures.ts';
import { recordRequests } from '../../support/e2e/requests.ts';
import { runCommand } from '../../support/e2e/run-command.ts';
import { kits } from '../../support/e2e/runner-kits.ts';
import { startService, type TestService } from '../../support/e2e/service.ts';

/** Puppeteer's runners on a service that has no browser for them: told once, asked for in vain no more than it must be. */

const test = base.extend<{ full: TestService }>({
  /** A service whose plan allows one browser, and somebody has it. */
  full: async ({}, use) => {
    const service = await startService({ concurrentBrowsers: 1 });
    await use(service);
    await service.stop();
  },
});

const GOES = { name: 'goes', body: `await page.goto(process.env.SITE_URL);` };

async function addFaults({ emulator }: TestService, faults: object[]): Promise<void> {
  const response = await fetch(`${emulator.baseURL}/__emulator/faults`, {
    method: 'POST',
    headers: { authorization: `Bearer ${emulator.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ faults }),
  });
  if (!response.ok) throw new Error(await response.text());
}

// Jest has these in a file of its own, with more workers.
for (const kit of kits.filter(({ runner }) => runner !== 'jest')) {
  test.describe(kit.runner, () => {
    const write = async (consumer: Consumer, options = '{}') =>
      await consumer.write({
        ...kit.config,
        'poolwright.config.mjs': `export default ${options};`,
        ...Object.fromEntries([kit.file('a', [GOES]), kit.file('b', [GOES])]),
      });

    test('402: nobody asks again', async ({ newConsumer, service, site }) => {
      const match = { method: 'POST', path: '/v1/browser/session' };
      await addFaults(service, [{ match, effect: { status: 402, body: { error: 'Insufficient balance' } } }]);
      const consumer = await newConsumer('latest', 'commonjs', kit.packages);
      await write(consumer);
      const requests = recordRequests();
      const run = await runCommand(consumer, kit.args, { ...service.env, SITE_URL: site.url });
      requests.stop();
      expect(run.code, run.output).not.toBe(0);
      expect(run.output).toContain('402 "Insufficient balance". The workspace is out of credit');
      expect(requests.answered.filter(({ status }) => status === 402).length).toBeLessThanOrEqual(2);
      expect(await service.allSessions()).toBe(0);
    });

    test('403: waited for while somebody else has the one browser, taken when it is free', async ({
      newConsumer,
      full,
      site,
    }) => {
      const { sessionId } = await full.client.createSession({ note: 'somebody' });
      const consumer = await newConsumer('latest', 'commonjs', kit.packages);
      await write(consumer);
      const requests = recordRequests();
      const running = runCommand(consumer, kit.args, { ...full.env, SITE_URL: site.url });
      const refused = () => requests.answered.filter(({ status }) => status === 403).length;
      await expect.poll(refused, { timeout: 30_000 }).toBe(1);
      await full.client.stopSession(sessionId);
      const run = await running;
      requests.stop();
      expect(run.code, run.output).toBe(0);
      expect(refused()).toBe(1);
      expect(await full.running()).toEqual([]);
    });

    test('409 of a pool and 503: asked again, and the run goes on', async ({ newConsumer, service, site }) => {
      await service.client.createPool({ name: 'e2e', size: 1 });
      const match = { method: 'POST', path: '/v1/browser/pools/*/acquire' };
      const busy = { error: 'No eligible node found', code: 'browser_capacity_unavailable' };
      const empty = { error: 'No browser is currently ready in this pool' };
      await addFaults(service, [
        { match, effect: { status: 503, body: busy, headers: { 'Retry-After': '1' } }, count: 1 },
        { match, effect: { status: 409, body: empty }, count: 2 },
      ]);
      const consumer = await newConsumer('latest', 'commonjs', kit.packages);
      await write(consumer, `{ pool: 'e2e', fallback: 'fail' }`);
      const requests = recordRequests();
      const run = await runCommand(consumer, kit.args, { ...service.env, SITE_URL: site.url });
      requests.stop();
      expect(run.code, run.output).toBe(0);
      const answers = requests.answered.filter(({ path }) => path.endsWith('/acquire')).map(({ status }) => status);
      expect(answers).toEqual(expect.arrayContaining([503, 409, 409, 200]));
      expect(await service.running()).toEqual([]);
    });
  });
}
