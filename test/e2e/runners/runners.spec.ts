import type { RunRecord } from '../../../src/record/run-record.ts';
import type { Consumer } from '../../support/e2e/consumer.ts';
import { expect, test } from '../../support/e2e/fixtures.ts';
import { brokerOf, processesIn } from '../../support/e2e/process-tree.ts';
import { runCommand, startCommand } from '../../support/e2e/run-command.ts';
import { kits, type RunnerTest } from '../../support/e2e/runner-kits.ts';

/** Puppeteer on hosted browsers, under each runner: what every one of them has to keep. */

const GOES = `await page.goto(process.env.SITE_URL);`;
const STAYS: RunnerTest = {
  name: 'stays',
  body: `${GOES} console.log('STAYS ' + process.pid + ' ' + hostedSession.sessionId); await new Promise(() => undefined);`,
  timeout: 600_000,
};
const READY = /STAYS (\d+) (\S+)/;

async function recordOf(consumer: Consumer): Promise<RunRecord> {
  return JSON.parse(await consumer.read('test-results/poolwright/run.json'));
}

for (const kit of kits) {
  test.describe(kit.runner, () => {
    const files = (tests: Record<string, RunnerTest[]>) => ({
      ...kit.config,
      ...Object.fromEntries(Object.entries(tests).map(([name, list]) => kit.file(name, list))),
    });

    test('one browser for all files, failing ones too; every test on record', async ({
      newConsumer,
      service,
      site,
    }) => {
      const consumer = await newConsumer('latest', 'commonjs', kit.packages);
      const tests = [
        { name: 'passes', body: `${GOES} expect(await page.title()).not.toBe('');` },
        { name: 'fails', body: `${GOES} expect(await page.title()).toBe('another');` },
      ];
      await consumer.write(files({ a: tests, b: tests }));
      const run = await runCommand(consumer, kit.args, { ...service.env, SITE_URL: site.url });
      expect(run.code, run.output).not.toBe(0); // Mocha's is how many have failed
      const record = await recordOf(consumer);
      expect(record.runner).toBe(kit.runner);
      const used = record.sessions.filter(({ testsServed }) => testsServed > 0);
      expect(used).toHaveLength(1);
      const told = used[0]?.tests.map(({ title, file, ok, status }) => ({ title, file: file[0], ok, status }));
      expect(told).toEqual([
        { title: 'passes', file: 'a', ok: true, status: 'passed' },
        { title: 'fails', file: 'a', ok: false, status: 'failed' },
        { title: 'passes', file: 'b', ok: true, status: 'passed' },
        { title: 'fails', file: 'b', ok: false, status: 'failed' },
      ]);
      // The site is on this machine.
      expect(used[0]?.bridgedBytes).toBeGreaterThan(100);
      // Who reads the failure knows which browser it had.
      expect(run.output.split(`hosted browser: session ${used[0]?.sessionId}`).length).toBeGreaterThan(2);
      expect(run.output).toContain('test-results/poolwright/timeline.html');
      expect(run.output).not.toContain(service.emulator.apiKey);
      expect(await service.running()).toEqual([]);
      await expect.poll(() => processesIn(consumer.folder)).toEqual([]);
    });

    test('a browser that is lost is said in the test, and the next test has a fresh one', async ({
      newConsumer,
      service,
      site,
    }) => {
      const consumer = await newConsumer('latest', 'commonjs', kit.packages);
      const lost = {
        ...STAYS,
        body: `${GOES} console.log('STAYS ' + process.pid + ' ' + hostedSession.sessionId); await page.waitForFunction('false', { timeout: 0 });`,
      };
      await consumer.write(files({ a: [lost, { name: 'goes on', body: GOES }] }));
      const run = startCommand(consumer, kit.args, { ...service.env, SITE_URL: site.url });
      await run.printed(READY);
      const sessionId = READY.exec(run.output())?.[2] ?? '';
      await service.client.stopSession(sessionId);
      expect((await run.exit).code, run.output()).toBe(1);
      expect(run.output()).toContain(`session ${sessionId} was lost`);
      const { sessions } = await recordOf(consumer);
      expect(sessions[0]).toMatchObject({ sessionId, endReason: 'lost', infrastructureFailures: [expect.any(String)] });
      const next = sessions.flatMap(({ tests }) => tests).find(({ title }) => title === 'goes on');
      expect(next).toMatchObject({ status: 'passed', infrastructureFailure: null });
      expect(await service.running()).toEqual([]);
    });

    const KILLED = { 'the runner': 'runner', 'the process that runs the test': 'worker' } as const;
    for (const [name, who] of Object.entries(KILLED)) {
      test(`SIGKILL of ${name}: nothing is left`, async ({ newConsumer, service, site }) => {
        const consumer = await newConsumer('latest', 'commonjs', kit.packages);
        await consumer.write(files({ a: [STAYS] }));
        const run = startCommand(consumer, kit.args, { ...service.env, SITE_URL: site.url });
        await run.printed(READY);
        const worker = Number(READY.exec(run.output())?.[1]);
        process.kill(who === 'runner' ? (run.child.pid ?? 0) : worker, 'SIGKILL');
        await expect.poll(() => service.running(), { timeout: 20_000 }).toEqual([]);
        // A runner without the test's process may wait for it: that is the runner's affair.
        if (run.child.exitCode === null && run.child.signalCode === null)
          process.kill(-(run.child.pid ?? 0), 'SIGTERM');
        await run.exit;
        for (const pid of processesIn(consumer.folder)) if (pid === worker) process.kill(pid, 'SIGKILL');
        await expect.poll(() => processesIn(consumer.folder), { timeout: 60_000 }).toEqual([]);
      });
    }

    test('SIGKILL of the broker: another one takes over, and the run ends as it should', async ({
      newConsumer,
      service,
      site,
    }) => {
      const consumer = await newConsumer('latest', 'commonjs', kit.packages);
      const waits = {
        name: 'waits',
        body: `${GOES} console.log('STAYS ' + process.pid + ' ' + hostedSession.sessionId); await new Promise((resolve) => setTimeout(resolve, 3_000));`,
      };
      await consumer.write(files({ a: [waits], b: [{ name: 'goes on', body: GOES }] }));
      const run = startCommand(consumer, kit.args, { ...service.env, SITE_URL: site.url });
      await run.printed(READY);
      process.kill(brokerOf(run.child.pid ?? 0), 'SIGKILL');
      await run.exit;
      expect(run.output()).toContain('another one takes over');
      const { sessions } = await recordOf(consumer);
      expect(sessions.flatMap(({ tests }) => tests).find(({ title }) => title === 'goes on')?.status).toBe('passed');
      expect(await service.running()).toEqual([]);
      await expect.poll(() => processesIn(consumer.folder)).toEqual([]);
    });

    test('bad input: one clear error each, and nothing is held', async ({ newConsumer, service }) => {
      const consumer = await newConsumer('latest', 'commonjs', kit.packages);
      await consumer.write(files({ a: [{ name: 'goes', body: '' }] }));
      const noKey = await runCommand(consumer, kit.args, { CI: '1' });
      expect(noKey.code).not.toBe(0);
      expect(noKey.output.match(/POOLWRIGHT_API_KEY is not set/g), noKey.output).toHaveLength(1);
      await consumer.write({ 'poolwright.config.mjs': `export default { pol: 'x' };` });
      const misspelt = await runCommand(consumer, kit.args, service.env);
      expect(misspelt.code).not.toBe(0);
      expect(misspelt.output).toContain('poolwright.config.mjs');
      expect(misspelt.output).toMatch(/pol\b.*pool/);
      expect(await service.allSessions()).toBe(0);
    });

    test('a budget that is exceeded fails the run', async ({ newConsumer, service, site }) => {
      const consumer = await newConsumer('latest', 'commonjs', kit.packages);
      await consumer.write({
        ...files({ a: [{ name: 'goes', body: GOES }] }),
        'poolwright.config.mjs': `export default { budget: { sessions: 0 } };`,
      });
      const run = await runCommand(consumer, kit.args, { ...service.env, SITE_URL: site.url });
      expect(run.output).toMatch(/budget/i);
      expect(run.code, run.output).not.toBe(0);
      expect(await service.running()).toEqual([]);
    });
  });
}
