import { expect, test } from '../../support/e2e/fixtures.ts';
import { brokerOf, leftProcesses, processesIn } from '../../support/e2e/process-tree.ts';
import { runCommand, startCommand } from '../../support/e2e/run-command.ts';
import { kits, type RunnerTest, sharedTag, vitest } from '../../support/e2e/runner-kits.ts';
import { outcomes, recordOf } from '../../support/e2e/runner-records.ts';
import { fullLength } from '../../support/property-runs.ts';

/** Puppeteer on hosted browsers: the behaviour that all runners share. Each has its own in jest.spec.ts and so on. */

const GOES = `await page.goto(process.env.SITE_URL);`;
const STAYS: RunnerTest = {
  name: 'stays',
  body: `await page.goto('about:blank'); console.log('STAYS ' + process.pid + ' ' + hostedSession.sessionId); await new Promise(() => undefined);`,
  timeout: 600_000,
};
const READY = /STAYS (\d+) (\S+)/;

for (const kit of kits) {
  test.describe(kit.runner, () => {
    const files = (tests: Record<string, RunnerTest[]>) => ({
      ...kit.config,
      ...Object.fromEntries(Object.entries(tests).map(([name, list]) => kit.file(name, list))),
    });

    // Below all runners, the same code goes on with another broker.
    const losesBroker = fullLength(true, kit === vitest);
    test(`a run › uses one browser until it ${losesBroker ? 'or the broker ' : ''}dies, and records every test`, {
      tag: sharedTag(kit),
    }, async ({ newConsumer, service, site }) => {
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
      const later: Record<string, RunnerTest[]> = losesBroker ? { d: [waits], e: [goesOn] } : {};
      await consumer.write(files({ a: tests, b: tests, c: [lost, goesOn], ...later }));
      const run = startCommand(consumer, kit.args, { ...service.env, SITE_URL: site.url });
      await run.printed(/LOSES \S+/);
      for (const leader of service.emulator.browserPids()) process.kill(-leader, 'SIGKILL');
      if (losesBroker) {
        await run.printed(/WAITS/);
        // Data that is not in the record yet is lost with the broker.
        const recorded = () => recordOf(consumer).then(outcomes, () => []);
        await expect.poll(recorded).toHaveLength(6);
        process.kill(brokerOf(run.child.pid ?? 0), 'SIGKILL');
        await run.printed(/another one takes over/);
        await consumer.write({ 'go-on': '' });
      }
      expect((await run.exit).code, run.output()).not.toBe(0); // Mocha's exit code is the number of failed tests
      const output = run.output();
      const record = await recordOf(consumer);
      expect(record.runner).toBe(kit.runner);

      const told = record.sessions.flatMap(({ sessionId, tests }) =>
        tests.map(({ title, file, ok, status, evidence }) => ({
          test: `${file[0]}: ${title}`,
          ok,
          status,
          evidence,
          sessionId,
        })),
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
      // evidence.spec.ts looks at all of it.
      const kept = by('a').at(-1)?.evidence;
      const { pages: left } = JSON.parse(await consumer.read(`${kept}/pages.json`));
      const looks = { screenshot: 'page-1.png', html: 'page-1.html', missing: [] };
      expect(left).toMatchObject([{ address: `${site.url}/`, ...looks }]);
      expect(await consumer.read(`${kept}/page-1.html`)).toContain('<h1>Hello</h1>');
      expect(output).toContain(`evidence: ${kept}`);
      const [sessionId] = shared;
      // The site is on this machine.
      const served = record.sessions.find((session) => session.sessionId === sessionId)?.tests ?? [];
      expect(Math.min(...served.map(({ proxiedBytes }) => proxiedBytes ?? 0))).toBeGreaterThan(100);
      // The failure's output names the browser of the test.
      expect(output.split(`hosted browser: session ${sessionId}`).length).toBeGreaterThan(2);

      const crashed = /LOSES (\S+)/.exec(output)?.[1];
      expect(output).toContain(`session ${crashed} was lost`);
      expect(record.sessions.find((session) => session.sessionId === crashed)).toMatchObject({
        endReason: 'lost',
        infrastructureFailures: [expect.any(String)],
      });
      // What is known without the browser is kept.
      const evidence = by('c').find(({ test }) => test.endsWith('loses it'))?.evidence;
      const { pages } = JSON.parse(await consumer.read(`${evidence}/pages.json`));
      expect(pages).toMatchObject([
        { address: `${site.url}/`, missing: ['html: the browser was lost', 'screenshot: the browser was lost'] },
      ]);
      for (const file of losesBroker ? ['c', 'e'] : ['c']) {
        expect(by(file).find(({ test }) => test.endsWith('goes on'))).toMatchObject({ status: 'passed' });
      }
      expect(by('c').at(-1)?.sessionId).not.toBe(crashed);
      expect(output).toContain('test-results/poolwright/timeline.html');
      expect(output).not.toContain(service.emulator.apiKey);
      expect(await service.running()).toEqual([]);
      await expect.poll(() => leftProcesses(consumer.directory)).toEqual([]);
    });

    test.describe('where no page matters', () => {
      test.use({ browsers: 'stub' });

      // One broker ends the browsers of every runner whose connection breaks.
      test('a run › ends broker and browser after SIGKILL of a process that runs a test, and of the runner', {
        tag: sharedTag(kit),
      }, async ({ newConsumer, service }) => {
        const consumer = await newConsumer('latest', 'commonjs', kit.packages);
        const { otherProcess } = kit;
        await consumer.write(files({ a: [STAYS], b: [STAYS] }));
        const run = startCommand(consumer, [...kit.args, ...(otherProcess ?? [])], service.env);
        await run.printed(READY);
        // Mocha's tests run in the runner itself; mocha.spec.ts tests its parallel workers.
        if (otherProcess) {
          const [, worker, sessionId] = READY.exec(run.output()) ?? [];
          expect(await service.running()).toContain(sessionId);
          process.kill(Number(worker), 'SIGKILL');
          await expect.poll(() => service.running()).not.toContain(sessionId);
          await run.printed(new RegExp(`${READY.source}[^]*${READY.source}`));
        }
        const ready = [...run.output().matchAll(new RegExp(READY, 'g'))];
        expect(await service.running()).toContain(ready.at(-1)?.[2]);
        process.kill(run.child.pid ?? 0, 'SIGKILL');
        await expect.poll(() => service.running()).toEqual([]);
        await run.exit;
        // A test that never ends may outlive its runner; that is the runner's own behaviour.
        const workers = ready.map(([, pid]) => Number(pid));
        for (const pid of processesIn(consumer.directory)) if (workers.includes(pid)) process.kill(pid, 'SIGKILL');
        await expect.poll(() => leftProcesses(consumer.directory)).toEqual([]);
      });

      test('a misspelled option › is one clear error, and leases nothing', async ({ newConsumer, service }) => {
        const consumer = await newConsumer('latest', 'commonjs', kit.packages);
        await consumer.write({
          ...files({ a: [{ name: 'goes', body: '' }] }),
          'poolwright.config.mjs': `export default { pol: 'x' };`,
        });
        const misspelt = await runCommand(consumer, kit.args, service.env);
        expect(misspelt.code).not.toBe(0);
        const message =
          'OptionsError [OPTIONS_INVALID]: poolwright: wrong options in poolwright.config.mjs:\n  - `pol`: unknown key, did you mean `pool`?\n';
        expect(misspelt.output.split(message), misspelt.output).toHaveLength(2);
        expect(misspelt.output.match(/OptionsError|triggerUncaughtException|did you mean/g)).toHaveLength(2);
        expect(await service.allSessions()).toBe(0);
      });
    });
  });
}

test('no key in CI › is one clear error', async ({ newConsumer }) => {
  const consumer = await newConsumer();
  await consumer.write({ ...vitest.config, ...Object.fromEntries([vitest.file('a', [{ name: 'goes', body: '' }])]) });
  const { code, output } = await runCommand(consumer, vitest.args, { CI: '1' });
  expect(code).not.toBe(0);
  expect(output.match(/POOLWRIGHT_API_KEY is not set/g), output).toHaveLength(1);
});
