import { cp } from 'node:fs/promises';
import { expect, test } from '../../support/e2e/fixtures.ts';
import { brokerOf, leftProcesses } from '../../support/e2e/process-tree.ts';
import { runCommand, startCommand } from '../../support/e2e/run-command.ts';
import { outcomes, recordOf } from '../../support/e2e/runner-records.ts';

/** Behaviour specific to Mocha; runners.spec.ts tests the behaviour that it shares with the other runners. */

const MOCHA = 'node_modules/mocha/bin/mocha.js';
const CONFIG = {
  '.mocharc.json': JSON.stringify({ require: ['poolwright/mocha'], spec: ['*.spec.*'], timeout: 20_000 }),
};
const GOES = `await page.goto(process.env.SITE_URL);`;

/** CommonJS and `this`. */
const WITH_THIS = `
const assert = require('node:assert/strict');
describe('this', () => {
  let left;
  it('has a page', async function () {
    left = this.page;
    const { page, context, browser, hostedSession } = this;
    ${GOES}
    assert.equal(page.browserContext(), context);
    assert.equal(context.browser?.() ?? browser, browser);
    assert.match(hostedSession.sessionId, /./);
    await page.evaluate(() => { document.cookie = 'mine=1'; });
    await context.newPage();
  });
  it('has another one than the test before, and nothing of it', async function () {
    const { page } = this;
    assert.ok(left.isClosed());
    ${GOES}
    assert.equal(await page.evaluate(() => document.cookie.includes('mine')), false);
    assert.equal((await this.context.pages()).length, 1);
  });
  it('fails at first', async function () {
    this.retries(1);
    if (this.test.currentRetry() === 0) throw new Error('not yet');
  });
  it('fails', async () => { assert.equal(1, 2); });
  it('takes too long', async function () { this.timeout(200); await new Promise((resolve) => setTimeout(resolve, 2_000).unref()); });
  it('skips itself', function () { this.skip(); });
  describe('whose hook fails', () => {
    beforeEach(() => { throw new Error('from a hook'); });
    it('does not begin', () => {});
  });
  describe('with a page it opens itself', () => {
    before(function () { this.page = 'mine'; });
    it('keeps it', function () { assert.equal(this.page, 'mine'); });
  });
});
// A root hook, like every hook outside a \`describe\`; our hooks run after it.
afterEach(async function () { if (/^has a/.test(this.currentTest.title) && this.currentTest.file === __filename) await this.page.title(); });`;

/** An ES module and arrow functions. */
const WITH_HOSTED = `
import assert from 'node:assert/strict';
import { hosted } from 'poolwright/mocha';
describe('hosted', () => {
  let shared;
  before(async function () { this.timeout(30_000); shared = await hosted.page(); });
  it('has its own page', async () => {
    const [page, session, context] = await Promise.all([hosted.page(), hosted.session(), hosted.context()]);
    ${GOES}
    assert.equal(page, await hosted.page());
    assert.notEqual(page, shared);
    assert.notEqual(context, shared.browserContext());
    assert.match(session.sessionId, /./);
  });
  it('has the page of its before hook', async () => { await shared.goto(process.env.SITE_URL); });
  it('needs none', () => {});
});
describe('behind it', () => {
  it('the shared page is closed', () => {});
});`;

for (const [mode, args] of [
  ['', []],
  ['--parallel', ['--parallel', '--jobs', '2']],
] as const) {
  test(`mocha ${mode} › records \`this\`, \`hosted\`, retries, timeouts, hooks and skips`, async ({
    newConsumer,
    service,
    site,
  }) => {
    const consumer = await newConsumer('latest', 'commonjs', ['mocha']);
    await consumer.write({
      ...CONFIG,
      'a.spec.js': WITH_THIS,
      'b.spec.mjs': WITH_HOSTED,
      'c.spec.js': `it('needs a browser in none of its tests', function () { this.timeout(300); });`,
    });
    const run = await runCommand(consumer, [MOCHA, ...args], { ...service.env, SITE_URL: site.url });
    expect(run.code, run.output).toBe(3);
    expect(run.output).toMatch(/9 passing/);
    expect(run.output).toMatch(/1 pending/);
    const record = await recordOf(consumer);
    expect(record.runner).toBe('mocha');
    expect(outcomes(record), run.output).toEqual([
      'hosted › has its own page: passed',
      'hosted › has the page of its before hook: passed',
      'this › fails at first: failed',
      'this › fails at first: passed (retry 1)',
      'this › fails: failed',
      'this › has a page: passed',
      'this › has another one than the test before, and nothing of it: passed',
      'this › skips itself: skipped',
      'this › takes too long: timedOut',
      'this › whose hook fails › does not begin: failed',
      'this › with a page it opens itself › keeps it: passed',
    ]);
    // After the message of each failed test.
    const { sessionId } = record.sessions.find(({ tests }) => tests.some(({ file }) => file === 'a.spec.js')) ?? {};
    expect(run.output).toMatch(new RegExp(`1 !== 2\\s+\\(hosted browser: session ${sessionId}\\)`));
    expect(run.output).toMatch(new RegExp(`Timeout of 200ms[\\s\\S]*?\\(hosted browser: session ${sessionId}\\)`));
    expect(record.sessions).toHaveLength(args.length > 0 ? 2 : 1);
    expect(record.sessions.map(({ endReason }) => endReason)).toEqual(record.sessions.map(() => 'run-ended'));
    expect(await service.running()).toEqual([]);
    await expect.poll(() => leftProcesses(consumer.directory)).toEqual([]);
  });
}

test('mocha › runs the example as in its README @slow', async ({ newConsumer, service }) => {
  const consumer = await newConsumer('latest', 'commonjs', ['mocha']);
  await cp('examples/puppeteer-mocha', consumer.directory, { recursive: true });
  for (const args of [[], ['--parallel']]) {
    const run = await runCommand(consumer, [MOCHA, ...args], service.env);
    expect(run.code, run.output).toBe(0);
    expect(run.output).toMatch(/4 passing/);
    expect(outcomes(await recordOf(consumer))).toHaveLength(3);
  }
  expect(await service.running()).toEqual([]);
});

test.describe('where no page matters', () => {
  test.use({ browsers: 'stub' });

  test('mocha › leases no browser when no test uses one', async ({ newConsumer, service }) => {
    const consumer = await newConsumer('latest', 'commonjs', ['mocha']);
    await consumer.write({
      ...CONFIG,
      'a.spec.js': `it('plain', () => {});`,
      'b.spec.js': `it('filtered', function () { void this.page; });`,
    });
    const run = await runCommand(consumer, [MOCHA, '--grep', 'plain'], service.env);
    expect(run.code, run.output).toBe(0);
    expect(await service.allSessions()).toBe(0);
  });

  test('mocha › fails only the tests that use a browser when none is available', async ({ newConsumer, service }) => {
    const consumer = await newConsumer('latest', 'commonjs', ['mocha']);
    await service.addFaults([{ match: { method: 'POST', path: '/v1/browser/session' }, effect: { status: 402 } }]);
    await consumer.write({
      ...CONFIG,
      'a.spec.js': `
      it('asks', function () { return this.page.title(); });
      it('asks, too', async function () { await this.page.title(); });
      it('asks not', () => {});`,
    });
    const run = await runCommand(consumer, [MOCHA], service.env);
    expect(run.code, run.output).toBe(2);
    expect(run.output).toMatch(/1 passing/);
    expect(run.output.match(/^ *ServiceError \[SERVICE_OUT_OF_CREDIT\]: .*credit/gim), run.output).toHaveLength(2);
    expect(await service.running()).toEqual([]);
  });

  test('mocha --parallel › ends the browser of a killed worker, and continues the run', async ({
    newConsumer,
    service,
  }) => {
    const consumer = await newConsumer('latest', 'commonjs', ['mocha']);
    const stays = `it('stays', async function () { this.timeout(0); const { page } = this; ${GOES} console.error('WORKER ' + process.pid + ' ' + this.hostedSession.sessionId); await new Promise(() => setTimeout(() => {}, 600_000)); });`;
    await consumer.write({
      ...CONFIG,
      'a.spec.js': stays,
      'b.spec.js': `it('goes on', async function () { const { page } = this; ${GOES} });`,
    });
    const run = startCommand(consumer, [MOCHA, '--parallel', '--jobs', '2'], {
      ...service.env,
      SITE_URL: 'about:blank',
    });
    await run.printed(/WORKER \d+/);
    const [, worker, sessionId] = /WORKER (\d+) (\S+)/.exec(run.output()) ?? [];
    expect(brokerOf(run.child.pid ?? 0)).toBeGreaterThan(0);
    process.kill(Number(worker), 'SIGKILL');
    expect((await run.exit).code).not.toBe(0);
    const record = await recordOf(consumer);
    expect(record.sessions.find((session) => session.sessionId === sessionId)?.endReason).toBe('worker-died');
    expect(outcomes(record)).toContain('goes on: passed');
    expect(await service.running()).toEqual([]);
    await expect.poll(() => leftProcesses(consumer.directory)).toEqual([]);
  });

  test('mocha --watch › keeps its browser between two runs, and gives it back at Ctrl-C', async ({
    newConsumer,
    service,
  }) => {
    const consumer = await newConsumer('latest', 'commonjs', ['mocha']);
    const file = (title: string) => `it('${title}', async function () { const { page } = this; ${GOES} });`;
    await consumer.write({ ...CONFIG, 'a.spec.js': file('first') });
    const run = startCommand(consumer, [MOCHA, '--watch'], { ...service.env, SITE_URL: 'about:blank' });
    await run.printed(/1 passing[\s\S]*waiting for changes/);
    await consumer.write({ 'a.spec.js': file('second') });
    await run.printed(/second[\s\S]*waiting for changes/);
    process.kill(run.child.pid ?? 0, 'SIGINT');
    expect((await run.exit).code).toBe(130);
    expect(await service.allSessions()).toBe(1);
    expect(await service.running()).toEqual([]);
    expect(outcomes(await recordOf(consumer))).toEqual(['first: passed', 'second: passed']);
    await expect.poll(() => leftProcesses(consumer.directory)).toEqual([]);
  });

  test('mocha › gives the browser back with --bail, and names the missing setup', async ({ newConsumer, service }) => {
    const consumer = await newConsumer('latest', 'commonjs', ['mocha']);
    await consumer.write({
      'a.spec.js': `it('fails', function () { void this.page; throw new Error('x'); }); it('is left out', function () {});`,
      'b.test.js': `const { hosted } = require('poolwright/mocha'); it('asks', () => hosted.page());`,
    });
    const args = [MOCHA, '--require', 'poolwright/mocha', '--bail', 'a.spec.js'];
    const bailed = await runCommand(consumer, args, service.env);
    expect(bailed.code, bailed.output).toBe(1);
    expect(outcomes(await recordOf(consumer))).toEqual(['fails: failed']);
    expect(await service.running()).toEqual([]);
    const forgotten = await runCommand(consumer, [MOCHA, 'b.test.js'], service.env);
    expect(forgotten.code).toBe(1);
    expect(forgotten.output).toContain('add `"require": ["poolwright/mocha"]` to .mocharc.json');
  });

  test.describe('a browser that starts slowly', () => {
    test.use({ serviceOptions: { startDelay: 2_500 } });

    test("mocha › does not count the wait for a browser towards a test's timeout", async ({ newConsumer, service }) => {
      const consumer = await newConsumer('latest', 'commonjs', ['mocha']);
      await consumer.write({
        ...CONFIG,
        // Requested inside the test, by a helper: the file itself contains no sign of it.
        'helper.js': `const { hosted } = require('poolwright/mocha'); exports.title = async () => (await hosted.page()).title();`,
        'a.spec.js': `
      it('waits', async function () { this.timeout(2_000); await require('./helper.js').title(); });
      it('has its time all the same', async function () {
        this.timeout(400);
        await require('./helper.js').title();
        await new Promise((resolve) => setTimeout(resolve, 3_000));
      });`,
      });
      const run = await runCommand(consumer, [MOCHA], service.env);
      expect(run.code, run.output).toBe(1);
      expect(run.output).toMatch(/✔ waits/);
      expect(outcomes(await recordOf(consumer))).toEqual(['has its time all the same: timedOut', 'waits: passed']);
    });
  });
});
