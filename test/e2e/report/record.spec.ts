import { runRecord } from '../../../src/record/run-record.ts';
import { expect, test } from '../../support/e2e/fixtures.ts';
import { brokerOf } from '../../support/e2e/process-tree.ts';
import { hostedAttachments, startPlaywright } from '../../support/e2e/run-playwright.ts';
import { suite, wrappedConfig } from '../../support/e2e/suites.ts';
import { slowIf } from '../../support/property-runs.ts';

/** `run.json`: which session served which test, when, and how it ended; the file is complete at any time. */

test.use({ browsers: 'stub' });

const SUITE = `
test.describe('group', () => {
  test('passes', async ({ page }) => { await page.goto('about:blank'); });
});
test('flaky', async ({ page }, { retry }) => { await page.goto('about:blank'); expect(retry).toBe(1); });
test('fails as it should', async ({ page }) => { test.fail(); await page.goto('about:blank'); expect(1).toBe(2); });
test('times out', async ({ page }) => { test.setTimeout(4_000); await page.goto('about:blank'); await page.waitForEvent('popup'); });
test('half-way skipped', async ({ page }) => { await page.goto('about:blank'); test.skip(true, 'enough'); });
test('no browser', () => {});
`;

/** The suite's tests in the record; the timed-out one has two attempts. */
const EXPECTED = [
  ['group › passes', 0, 'passed', true],
  ['flaky', 0, 'failed', false],
  ['flaky', 1, 'passed', true],
  ['fails as it should', 0, 'failed', true],
  ['times out', 0, 'timedOut', false],
  ['times out', 1, 'timedOut', false],
  ['half-way skipped', 0, 'skipped', true],
];

for (const reporter of ['ours', 'none of ours']) {
  test(
    `run.json › has every session with its times and tests (${reporter} loaded)`,
    slowIf(reporter !== 'ours'),
    async ({ runSuite }) => {
      // Without our reporter, the broker writes the record, however many tests there are.
      const args = reporter === 'ours' ? [] : ['--reporter=json', '--grep=passes|flaky'];
      const expected = EXPECTED.filter(([title]) => reporter === 'ours' || /passes|flaky/.test(String(title)));
      const run = await runSuite({
        config: 'retries: 1,',
        tests: SUITE,
        args: args,
        code: reporter === 'ours' ? 1 : 0,
      });
      const record = await run.record();
      expect(record.endedAt).not.toBeNull();
      const tests = record.sessions.flatMap((session) => session.tests);
      expect(tests.map(({ title, retry, status, ok }) => [title, retry, status, ok])).toEqual(expected);

      const reported = (await run.tests()).flatMap(({ title, results }) =>
        results.map((result) => ({ title, result, attachment: hostedAttachments(result)[0] })),
      );
      for (const session of record.sessions) {
        const served = reported.filter(({ attachment }) => attachment?.sessionId === session.sessionId);
        expect(session.tests).toHaveLength(served.length);
        expect(session).toMatchObject({ type: 'hosted', shard: null, endConfirmed: true });
        const moments = [
          session.requestedAt,
          session.startedAt,
          session.lentAt,
          // A worker's first test begins before its browser is available, and may even fail before.
          ...session.tests.slice(1).flatMap(({ startedAt, endedAt }) => [startedAt, endedAt]),
          session.endingAt,
          session.endedAt,
        ].map((moment) => Date.parse(moment ?? ''));
        expect(moments).toEqual([...moments].sort((a, b) => a - b));
        for (const { title, result, attachment } of served) {
          const recorded = session.tests.find((one) => one.title.endsWith(title) && one.retry === result.retry);
          expect(recorded, title).toMatchObject({ observedBytes: attachment?.observedBytes, file: 'a.spec.ts' });
        }
        expect(session.tests.reduce((sum, { observedBytes }) => sum + (observedBytes ?? 0), 0)).toBe(
          session.observedBytes,
        );
      }
    },
  );
}

test('run.json › is complete after a crash, and continued by another broker', async ({ newConsumer, service }) => {
  const consumer = await newConsumer();
  const read = async () => runRecord.parse(JSON.parse(await consumer.read('test-results/poolwright/run.json')));
  await consumer.write({
    'playwright.config.ts': wrappedConfig(),
    'tests/a.spec.ts': suite(`
      import { existsSync } from 'node:fs';
      const until = async (file) => { while (!existsSync(file)) await new Promise((done) => setTimeout(done, 50)); };
      test('first', async ({ page }) => { await page.goto('about:blank'); });
      test('second', async ({ page }) => { test.setTimeout(0); await page.goto('about:blank'); console.log('SECOND'); await until('go-on'); });
      test('third', async ({ page }) => { test.setTimeout(0); await page.goto('about:blank'); console.log('THIRD'); await until('never'); });`),
  });
  const run = startPlaywright(consumer, [], service.env);
  await run.printed(/SECOND/);
  const titles = async () => {
    const written = await read().catch(() => null); // it is written with a delay of some seconds
    return written?.sessions.flatMap(({ tests }) => tests.map(({ title }) => title));
  };
  await expect.poll(titles).toEqual(['first']);
  expect((await read()).endedAt).toBeNull();
  const [first] = (await read()).sessions;

  process.kill(brokerOf(run.child.pid ?? 0), 'SIGKILL');
  await run.printed(/another one takes over/);
  await consumer.write({ 'go-on': '' });
  await run.printed(/THIRD/);
  await expect.poll(async () => (await read()).sessions.length).toBe(2);
  const taken = await read();
  expect(taken.sessions[0]).toMatchObject({
    sessionId: first?.sessionId,
    endReason: 'broker-died',
    endConfirmed: null,
  });
  expect(taken.startedAt < (taken.sessions[0]?.startedAt ?? '')).toBe(true);

  process.kill(-(run.child.pid ?? 0), 'SIGKILL');
  await run.exit;
  await expect.poll(() => service.running()).toEqual([]);
  await expect.poll(async () => (await read()).endedAt).not.toBeNull(); // its broker outlived the run until then
});
