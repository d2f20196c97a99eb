import { cp } from 'node:fs/promises';
import { expect, test } from '../../support/e2e/fixtures.ts';
import { leftProcesses } from '../../support/e2e/process-tree.ts';
import { runCommand, startCommand } from '../../support/e2e/run-command.ts';
import { outcomes, recordOf } from '../../support/e2e/runner-records.ts';

/** Behaviour specific to node:test; runners.spec.ts tests the behaviour that it shares with the other runners. */

const SET_UP = ['--require', 'poolwright/node-test'];
const RUN = [...SET_UP, '--test', '--test-reporter=spec'];
const IMPORTS = `
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { hostedBrowser } from 'poolwright/node-test';`;
const GOES = `await hosted.page.goto(process.env.SITE_URL);`;

const ALL = `${IMPORTS}
const hosted = hostedBrowser();
let left;
test('has a page', async (t) => {
  ${GOES}
  left = hosted.page;
  assert.equal(left.browserContext(), hosted.context);
  assert.match(hosted.session.sessionId, /./);
  await t.test('and so has its part', () => assert.equal(hosted.page, left));
});
test('has another one than the test before', async () => {
  assert.ok(left.isClosed());
  ${GOES}
});
test('fails', () => { assert.equal(1, 2); });
test('takes too long', { timeout: 200 }, async () => { await hosted.page.waitForSelector('nothing', { timeout: 1_000 }); });
test('skips itself', (t) => t.skip());
describe('at once', { concurrency: true }, () => {
  let arrived = 0;
  for (const name of ['one', 'two']) {
    test(name, async (t) => {
      const { page } = hosted.of(t);
      await page.setContent('<title>' + name + '</title>');
      for (arrived += 1; arrived < 2; ) await new Promise((resolve) => setTimeout(resolve, 20));
      assert.throws(() => hosted.page, /Several tests run at the same time.*hosted\\.of\\(t\\)/);
      await new Promise((resolve) => setTimeout(resolve, name === 'one' ? 300 : 900));
      assert.equal(await page.title(), name);
    });
  }
});`;

/** CommonJS, and a suite with a browser beside tests without one. */
const IN_A_SUITE = `
const { describe, test } = require('node:test');
const { hostedBrowser } = require('poolwright/node-test');
test('needs none', () => {});
describe('a suite', () => {
  const hosted = hostedBrowser();
  test('has a page', async () => { await hosted.page.goto('about:blank'); });
});`;

const TESTS = [
  'a suite › has a page: passed',
  'at once › one: passed',
  'at once › two: passed',
  'fails: failed',
  'has a page: passed',
  'has another one than the test before: passed',
  expect.stringMatching(/^skips itself: (skipped|passed)$/), // Node before 24 runs no hooks after it
  'takes too long: timedOut',
];

test('node:test › records pages, subtests, concurrent tests and failures of all files', async ({
  newConsumer,
  service,
  site,
}) => {
  const consumer = await newConsumer();
  await consumer.write({ 'a.test.mjs': ALL, 'b.test.cjs': IN_A_SUITE, 'c.test.cjs': `require('node:test')('c');` });
  const run = await runCommand(consumer, RUN, { ...service.env, SITE_URL: site.url });
  expect(run.code, run.output).toBe(1);
  const record = await recordOf(consumer);
  expect(record.runner).toBe('node-test');
  expect(outcomes(record), run.output).toEqual(TESTS);
  const { sessionId } = record.sessions.find(({ tests }) => tests.some(({ file }) => file === 'a.test.mjs')) ?? {};
  expect(run.output).toContain(`ℹ hosted browser: session ${sessionId}`);
  expect(run.output).toMatch(new RegExp(`1 !== 2\\s+\\(hosted browser: session ${sessionId}\\)`));
  expect(run.output).toContain('test-results/poolwright/run.json');
  expect(await service.running()).toEqual([]);
  await expect.poll(() => leftProcesses(consumer.directory)).toEqual([]);
});

test.describe('where no page matters', () => {
  test.use({ browsers: 'stub' });

  test('node:test › starts a run for a process without a runner, which its budget fails', async ({
    newConsumer,
    service,
  }) => {
    const consumer = await newConsumer();
    await consumer.write({
      'poolwright.config.json': JSON.stringify({ budget: { sessions: 0 } }),
      'b.test.cjs': IN_A_SUITE,
    });
    const run = await runCommand(consumer, ['b.test.cjs'], service.env);
    expect(run.code, run.output).toBe(1);
    expect(run.output).toContain('budget exceeded: sessions is limited to 0');
    const record = await recordOf(consumer);
    expect(outcomes(record), run.output).toEqual(['a suite › has a page: passed']);
    expect(record.sessions).toHaveLength(1);
    expect(await service.running()).toEqual([]);
    await expect.poll(() => leftProcesses(consumer.directory)).toEqual([]);
  });

  test('node:test --test-shard › is the shard of the record', async ({ newConsumer, service }) => {
    const consumer = await newConsumer();
    await consumer.write({ 'a.test.cjs': IN_A_SUITE, 'b.test.cjs': IN_A_SUITE });
    const run = await runCommand(consumer, [...RUN, '--test-shard=2/2'], service.env);
    expect(run.code, run.output).toBe(0);
    const record = await recordOf(consumer);
    expect(record.shard).toEqual({ current: 2, total: 2 });
    expect(record.sessions.flatMap(({ tests }) => tests)).toMatchObject([{ file: 'b.test.cjs' }]);
  });

  test('node:test › leases no browser when no test uses one', async ({ newConsumer, service }) => {
    const consumer = await newConsumer();
    await consumer.write({ 'a.test.cjs': `require('node:test')('plain', () => {});` });
    const run = await runCommand(consumer, RUN, service.env);
    expect(run.code, run.output).toBe(0);
    expect(await service.allSessions()).toBe(0);
  });

  for (const [name, args] of [
    ['forgotten', ['--test']],
    ['as an --import', ['--import', 'poolwright/node-test', '--test']],
  ] as const) {
    test(`node:test › set up ${name}: one clear error, and nothing is held`, async ({ newConsumer, service }) => {
      const consumer = await newConsumer();
      await consumer.write({ 'a.test.cjs': IN_A_SUITE });
      const run = await runCommand(consumer, [...args, '--test-reporter=tap'], service.env);
      expect(run.code).toBe(1);
      expect(run.output.match(/run `node --require poolwright\/node-test --test`/g), run.output).toHaveLength(1);
      expect(await service.allSessions()).toBe(0);
    });
  }

  test('node:test --watch › keeps its browser between two runs, and gives it back at Ctrl-C', async ({
    newConsumer,
    service,
  }) => {
    const consumer = await newConsumer();
    await consumer.write({ 'a.test.cjs': IN_A_SUITE });
    const run = startCommand(consumer, [...RUN, '--watch'], service.env);
    await run.printed(/✔ a suite/);
    await consumer.write({ 'a.test.cjs': IN_A_SUITE.replaceAll('a suite', 'another one') });
    await run.printed(/✔ another one/);
    process.kill(-(run.child.pid ?? 0), 'SIGINT');
    await run.exit;
    await expect.poll(() => service.running()).toEqual([]);
    expect(await service.allSessions()).toBe(1);
    await expect.poll(() => leftProcesses(consumer.directory)).toEqual([]);
    // The broker has written the record.
    expect(outcomes(await recordOf(consumer))).toEqual([
      'a suite › has a page: passed',
      'another one › has a page: passed',
    ]);
  });
});

test('node:test › runs the example as in its README @slow', async ({ newConsumer, service }) => {
  const consumer = await newConsumer();
  await cp('examples/puppeteer-node-test', consumer.directory, { recursive: true });
  const run = await runCommand(consumer, [...SET_UP, '--test'], service.env);
  expect(run.code, run.output).toBe(0);
  expect(outcomes(await recordOf(consumer))).toHaveLength(4);
  expect(await service.running()).toEqual([]);
});
