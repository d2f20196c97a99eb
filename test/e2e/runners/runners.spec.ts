import { expect, test } from '../../support/e2e/fixtures.ts';
import { brokerOf, processesIn } from '../../support/e2e/process-tree.ts';
import { runCommand, startCommand } from '../../support/e2e/run-command.ts';
import { kits, type RunnerTest, vitest } from '../../support/e2e/runner-kits.ts';
import { outcomes, recordOf } from '../../support/e2e/runner-records.ts';

/** Puppeteer on hosted browsers, under each runner: what every one of them has to keep. */

const GOES = `await page.goto(process.env.SITE_URL);`;
const STAYS: RunnerTest = {
  name: 'stays',
  body: `${GOES} console.log('STAYS ' + process.pid + ' ' + hostedSession.sessionId); await new Promise(() => undefined);`,
  timeout: 600_000,
};
const READY = /STAYS (\d+) (\S+)/;

for (const kit of kits) {
  test.describe(kit.runner, () => {
    const files = (tests: Record<string, RunnerTest[]>) => ({
      ...kit.config,
      ...Object.fromEntries(Object.entries(tests).map(([name, list]) => kit.file(name, list))),
    });

    test('one browser for all files, failing ones too, until it or the broker dies; every test on record', async ({
      newConsumer,
      service,
      site,
    }) => {
      const consumer = await newConsumer('latest', 'commonjs', kit.packages);
      const tests = [
        { name: 'passes', body: `${GOES} expect(await page.title()).not.toBe('');` },
        { name: 'fails', body: `${GOES} expect(await page.title()).toBe('another');` },
      ];
      const lost = {
        name: 'loses it',
        body: `${GOES} console.log('LOSES ' + hostedSession.sessionId); await page.waitForFunction('false', { timeout: 0 });`,
        timeout: 600_000,
      };
      const waits = {
        name: 'waits',
        body: `${GOES}
          console.log('WAITS');
          const { existsSync } = process.getBuiltinModule('node:fs');
          while (!existsSync('go-on')) await new Promise((resolve) => setTimeout(resolve, 50));`,
      };
      const goesOn = { name: 'goes on', body: GOES };
      await consumer.write(files({ a: tests, b: tests, c: [lost, goesOn], d: [waits], e: [goesOn] }));
      const run = startCommand(consumer, kit.args, { ...service.env, SITE_URL: site.url });
      await run.printed(/LOSES \S+/);
      for (const leader of service.emulator.browserPids()) process.kill(-leader, 'SIGKILL');
      await run.printed(/WAITS/);
      // What the record does not have yet goes with the broker.
      const recorded = () => recordOf(consumer).then(outcomes, () => []);
      await expect.poll(recorded, { timeout: 30_000 }).toHaveLength(6);
      process.kill(brokerOf(run.child.pid ?? 0), 'SIGKILL');
      await run.printed(/another one takes over/);
      await consumer.write({ 'go-on': '' });
      expect((await run.exit).code, run.output()).not.toBe(0); // Mocha's is how many have failed
      const output = run.output();
      const record = await recordOf(consumer);
      expect(record.runner).toBe(kit.runner);

      const told = record.sessions.flatMap(({ sessionId, tests }) =>
        tests.map(({ title, file, ok, status }) => ({ test: `${file[0]}: ${title}`, ok, status, sessionId })),
      );
      const by = (file: string) => told.filter(({ test }) => test.startsWith(file));
      for (const file of ['a', 'b']) {
        expect(by(file)).toMatchObject([
          { test: `${file}: passes`, ok: true, status: 'passed' },
          { test: `${file}: fails`, ok: false, status: 'failed' },
        ]);
      }
      const shared = new Set([...by('a'), ...by('b')].map(({ sessionId }) => sessionId));
      expect(shared.size).toBe(1);
      const [sessionId] = shared;
      // The site is on this machine.
      expect(record.sessions.find((session) => session.sessionId === sessionId)?.bridgedBytes).toBeGreaterThan(100);
      // Who reads the failure knows which browser it had.
      expect(output.split(`hosted browser: session ${sessionId}`).length).toBeGreaterThan(2);

      const crashed = /LOSES (\S+)/.exec(output)?.[1];
      expect(output).toContain(`session ${crashed} was lost`);
      expect(record.sessions.find((session) => session.sessionId === crashed)).toMatchObject({
        endReason: 'lost',
        infrastructureFailures: [expect.any(String)],
      });
      for (const file of ['c', 'e']) {
        expect(by(file).find(({ test }) => test.endsWith('goes on'))).toMatchObject({ status: 'passed' });
      }
      expect(by('c').at(-1)?.sessionId).not.toBe(crashed);
      expect(output).toContain('test-results/poolwright/timeline.html');
      expect(output).not.toContain(service.emulator.apiKey);
      expect(await service.running()).toEqual([]);
      await expect.poll(() => processesIn(consumer.folder)).toEqual([]);
    });

    // Mocha's tests run in the runner itself; its parallel workers are in mocha.spec.ts.
    const KILLED = {
      'the runner': 'runner',
      ...(kit.runner !== 'mocha' && { 'the process that runs the test': 'worker' }),
    };
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

    test('a misspelt option is one clear error, and nothing is held', async ({ newConsumer, service }) => {
      const consumer = await newConsumer('latest', 'commonjs', kit.packages);
      await consumer.write({
        ...files({ a: [{ name: 'goes', body: '' }] }),
        'poolwright.config.mjs': `export default { pol: 'x' };`,
      });
      const misspelt = await runCommand(consumer, kit.args, service.env);
      expect(misspelt.code).not.toBe(0);
      const message =
        'OptionsError: poolwright: wrong options in poolwright.config.mjs:\n  - `pol`: unknown key, did you mean `pool`?\n';
      expect(misspelt.output.split(message), misspelt.output).toHaveLength(2);
      expect(misspelt.output.match(/OptionsError|OPTIONS_INVALID|triggerUncaughtException|did you mean/g)).toHaveLength(
        2,
      );
      expect(await service.allSessions()).toBe(0);
    });
  });
}

test('no key in CI: one clear error', async ({ newConsumer }) => {
  const consumer = await newConsumer();
  await consumer.write({ ...vitest.config, ...Object.fromEntries([vitest.file('a', [{ name: 'goes', body: '' }])]) });
  const { code, output } = await runCommand(consumer, vitest.args, { CI: '1' });
  expect(code).not.toBe(0);
  expect(output.match(/POOLWRIGHT_API_KEY is not set/g), output).toHaveLength(1);
});
