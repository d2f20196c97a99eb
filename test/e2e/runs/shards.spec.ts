import { readFileSync } from 'node:fs';
import { connectToBroker } from '../../../src/broker/rpc/client.ts';
import { expect, test } from '../../support/e2e/fixtures.ts';
import { brokerOf } from '../../support/e2e/process-tree.ts';
import { hostedAttachments, reportedTests } from '../../support/e2e/run-playwright.ts';
import type { StartedSuite } from '../../support/e2e/suite-run.ts';
import { STAYS } from '../../support/e2e/suites.ts';

test.use({ browsers: 'stub' });

/** Several machines at one limit, and one broker with many leases. */

test.describe('at a limit of two', () => {
  test.use({ serviceOptions: { concurrentBrowsers: 2 } });

  test('shards › finish within one workspace limit; DEBUG logs the broker', { tag: '@slow' }, async ({
    startSuite,
    service,
  }) => {
    const SHARDS = 2;
    const opens = `test('opens', async ({ page }) => {
      await page.goto('about:blank');
      await new Promise((resolve) => setTimeout(resolve, 1_000));
    });`;
    const runs: StartedSuite[] = [];
    for (let shard = 1; shard <= SHARDS; shard += 1) {
      const run = await startSuite({
        tests: Object.fromEntries(['a', 'b', 'c', 'd'].map((name) => [name, opens])),
        args: ['--workers=2', `--shard=${shard}/${SHARDS}`],
        ...(shard === 1 && { env: { DEBUG: 'poolwright:*' } }),
      });
      runs.push(run);
    }
    let most = 0;
    let over = false;
    const ended = Promise.all(runs.map(({ exit }) => exit)).then((exits) => {
      over = true;
      return exits;
    });
    while (!over) {
      most = Math.max(most, (await service.running()).length);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    expect((await ended).map(({ code }) => code)).toEqual([0, 0]);
    expect(most).toBe(2);
    const shards = new Set<unknown>();
    for (const { consumer } of runs) {
      const tests = await reportedTests(consumer);
      expect(tests).toHaveLength(2);
      for (const { results } of tests) shards.add(JSON.stringify(hostedAttachments(results[0])[0]?.shard));
    }
    expect([...shards].sort()).toEqual([1, 2].map((current) => JSON.stringify({ current, total: SHARDS })));
    // The broker's log file has it in any case.
    const line = /session \S+ from session for slot \d/;
    expect(runs.map(({ output }) => line.test(output()))).toEqual([true, false]);
    for (const { consumer } of runs) {
      const log = await consumer.read('test-results/poolwright/broker.log');
      expect(log).toMatch(line);
      for (const secret of [service.emulator.apiKey, '/cdp/']) expect(log).not.toContain(secret);
    }
    expect(await service.running()).toEqual([]);
  });
});

const LEASES = 64;

test.describe('at a limit above 64', () => {
  test.use({ serviceOptions: { concurrentBrowsers: LEASES + 1 } });

  test('a broker › leases 64 browsers within 100 MB, and shows nobody its key or its socket', async ({
    startSuite,
    service,
  }) => {
    const run = await startSuite({
      // The key comes from the config's own code here, not from the environment, which workers share.
      options: `process.env.TEST_WORKER_INDEX ? {} : { baseURL: '${service.emulator.baseURL}', apiKey: '${service.emulator.apiKey}' }`,
      env: { POOLWRIGHT_BASE_URL: '', POOLWRIGHT_API_KEY: '' },
      tests: STAYS.replace(`page.goto('/')`, `page.goto('about:blank')`).replace(
        `console.log('WORKER ' + process.pid);`,
        `console.log('BROKER ' + process.env.POOLWRIGHT_BROKER); console.log('WORKER ' + process.pid);`,
      ),
    });
    await run.printed(/WORKER \d+/);
    const address: { address: string; token: string } = JSON.parse(/BROKER (.*)/.exec(run.output())?.[1] ?? '');
    const worker = Number(/WORKER (\d+)/.exec(run.output())?.[1]);
    expect(readFileSync(`/proc/${worker}/environ`, 'latin1')).not.toContain(service.emulator.apiKey);
    const broker = brokerOf(run.child.pid ?? 0);
    for (const file of ['cmdline', 'environ'])
      expect(readFileSync(`/proc/${broker}/${file}`, 'latin1')).not.toContain(service.emulator.apiKey);

    await expect(connectToBroker({ ...address, token: 'guessed' }, 'worker')).rejects.toMatchObject({
      code: expect.stringMatching(/BROKER_/),
    });
    const lines = await Promise.all(Array.from({ length: LEASES }, () => connectToBroker(address, 'worker')));
    await Promise.all(lines.map((line, n) => line.lease({ project: '', parallelIndex: n, needMs: 1_000 })));
    expect(await service.running()).toHaveLength(LEASES + 1);
    const resident = () => Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${broker}/status`, 'utf8'))?.[1]) / 1024;
    // The garbage of 64 simultaneous requests is collected when the process was idle: after 50 s on a busy machine.
    // Node 24 needs 10 MB more than Node 20.
    await expect.poll(resident, { timeout: 150_000 }).toBeLessThanOrEqual(100);

    for (const line of lines) line.close(); // without giving anything back: each connection's browser is ended
    await expect.poll(() => service.running()).toHaveLength(1);
    process.kill(-(run.child.pid ?? 0), 'SIGINT');
    await run.exit;
    expect(await service.running()).toEqual([]);
  });
});
