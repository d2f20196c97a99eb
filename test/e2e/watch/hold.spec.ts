import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PageInput } from '../../../src/common/page/page-input.ts';
import type { RunRecord } from '../../../src/record/run-record.ts';
import { Person } from '../../support/cdp/person.ts';
import type { Consumer } from '../../support/e2e/consumer.ts';
import { expect, test } from '../../support/e2e/fixtures.ts';
import { leftProcesses } from '../../support/e2e/process-tree.ts';
import { startCommand } from '../../support/e2e/run-command.ts';
import { startPlaywright } from '../../support/e2e/run-playwright.ts';
import { kits, sharedTag } from '../../support/e2e/runner-kits.ts';
import { ownTitle, type Watched, watchRun } from '../../support/watch/watched-run.ts';

/** A person uses the page of a test on hold, and releases the test. With each runner, who watches sees its tests. */

const LOGIN = `data:text/html,<title>login</title><body style="margin:0"><input style="display:block;width:200px;height:50px"><button style="display:block;width:200px;height:50px" onclick="document.title='hello '+document.querySelector('input').value">Log in</button>`;

const CONFIG = (more = '') => ({
  'playwright.config.js': `
    const { withHostedBrowsers } = require('poolwright');
    module.exports = withHostedBrowsers({ testDir: '.', timeout: 10_000, ${more} });`,
});

/** Puts the test on hold and returns the title afterwards. */
const HOLD = `
  await page.goto(${JSON.stringify(LOGIN)});
  await hostedSession.hold('log in with the code');
  expect(await page.title()).toBe('hello Jane 42');`;

test.use({ browsers: 'shell' });

test('Playwright: the test continues with what a person did, longer than its timeout', async ({
  newConsumer,
  service,
}) => {
  const consumer = await newConsumer();
  const title = ownTitle('logs in by hand');
  await consumer.write({
    ...CONFIG('timeout: 12_000'),
    'a.spec.js': `
      const { test } = require('poolwright');
      const { expect } = require('@playwright/test');
      test('${title}', async ({ page, hostedSession }) => {${HOLD}
        console.log('TIMEOUT', test.info().timeout);
      });`,
  });
  const watched = watchRun(title);
  const run = startPlaywright(consumer, ['--workers=1'], service.env);
  try {
    await run.printed(/"logs in by hand \(\d+\)" is on hold until \d\d:\d\d:\d\d: log in with the code\. See/);
    await expect.poll(() => watched.slot()?.hold?.reason).toBe('log in with the code');
    const left = (watched.slot()?.hold?.until ?? 0) - Date.now();
    expect(left).toBeGreaterThan(60_000);
    expect(left).toBeLessThanOrEqual(600_000);
    const since = performance.now();
    await logIn(watched);
    await expect.poll(() => performance.now() - since, { timeout: 30_000 }).toBeGreaterThan(12_500);
    release(watched);
    expect((await run.exit).code, run.output()).toBe(0);
    const timeout = Number(/TIMEOUT (\d+)/.exec(run.output())?.[1]);
    expect(timeout).toBeGreaterThan(24_000);
    expect(timeout).toBeLessThan(240_000);
  } finally {
    await watched.close();
  }
  expect(await holdsOf(consumer)).toEqual([
    { reason: 'log in with the code', startedAt: expect.any(String), endedAt: expect.any(String), end: 'released' },
  ]);
  await expect.poll(() => leftProcesses(consumer.directory)).toEqual([]);
});

test('Playwright: POOLWRIGHT_HOLD=failure keeps the page of a failed test open, also after a timeout', async ({
  newConsumer,
  service,
}) => {
  const consumer = await newConsumer();
  const [fails = '', isLate = ''] = ['fails with a page', 'is late with a page'].map(ownTitle);
  await consumer.write({
    ...CONFIG(),
    'a.spec.js': `
      const { test, expect } = require('@playwright/test');
      test('${fails}', async ({ page }) => {
        await page.goto(${JSON.stringify(LOGIN)});
        expect(1).toBe(2);
      });
      test('${isLate}', async ({ page }) => {
        test.setTimeout(3_000);
        await page.goto(${JSON.stringify(LOGIN)});
        await page.waitForSelector('missing');
      });
      test('passes', async ({ page }) => { await page.goto('about:blank'); });`,
  });
  const run = startPlaywright(consumer, ['--workers=1'], { ...service.env, POOLWRIGHT_HOLD: 'failure' });
  for (const title of [fails, isLate]) {
    const watched = watchRun(title);
    try {
      await run.printed(/" is on hold until .*: the test failed\. See/);
      await expect.poll(() => watched.slot()?.hold?.reason).toBe('the test failed');
      await logIn(watched);
      release(watched);
      await expect.poll(() => watched.slot()?.hold ?? null).toBeNull();
    } finally {
      await watched.close();
    }
  }
  expect((await run.exit).code).toBe(1);
  expect(run.output()).toContain('2 failed');
  expect(run.output()).toContain('1 passed');
  expect(await holdsOf(consumer)).toMatchObject([
    { reason: 'the test failed', end: 'released' },
    { reason: 'the test failed', end: 'released' },
  ]);
  await expect.poll(() => leftProcesses(consumer.directory)).toEqual([]);
});

test.describe('where no page matters', () => {
  test.use({ browsers: 'stub' });

  test('Playwright: Ctrl-C ends a hold', async ({ newConsumer, service }) => {
    for (const hold of ['', 'failure']) {
      const consumer = await newConsumer();
      await consumer.write({
        ...CONFIG(),
        'a.spec.js': `
          const { test } = require('poolwright');
          test('is interrupted', async ({ page, hostedSession }) => {
            if (process.env.POOLWRIGHT_HOLD) throw new Error('fails');
            await hostedSession.hold('wait');
          });`,
      });
      const run = startPlaywright(consumer, ['--workers=1'], { ...service.env, POOLWRIGHT_HOLD: hold });
      await run.printed(/is on hold until/);
      process.kill(-(run.child.pid ?? 0), 'SIGINT');
      await run.exit;
      expect(await holdsOf(consumer)).toMatchObject([{ end: 'interrupted' }]);
      await expect.poll(() => leftProcesses(consumer.directory)).toEqual([]);
      expect(await service.running()).toEqual([]);
    }
  });

  test('Playwright: in CI without a watcher, hold() fails at once and failed tests are not held', async ({
    newConsumer,
    service,
  }) => {
    const consumer = await newConsumer();
    await consumer.write({
      ...CONFIG(),
      'a.spec.js': `
        const { test } = require('poolwright');
        test('waits', async ({ page, hostedSession }) => { await hostedSession.hold('log in'); });`,
    });
    // Those who watch the runs of other tests do not find it here.
    const temporary = await mkdtemp(join(tmpdir(), 'hold-'));
    const env = { ...service.env, TMPDIR: temporary, CI: '1', POOLWRIGHT_HOLD: 'failure' };
    const run = startPlaywright(consumer, [], env);
    expect((await run.exit).code).toBe(1);
    expect(run.output()).toContain(
      "`hostedSession.hold('log in')` waits for a person, but this is a CI run (`CI` is set) and nobody watches it",
    );
    expect(run.output()).toContain('POOLWRIGHT_HOLD=failure has no effect');
    await rm(temporary, { recursive: true });
    const wrong = startPlaywright(consumer, [], { ...service.env, POOLWRIGHT_HOLD: 'always' });
    expect((await wrong.exit).code).toBe(1);
    expect(wrong.output()).toContain('POOLWRIGHT_HOLD must be failure, got "always"');
    expect(wrong.output()).not.toContain('session');
  });
});

for (const kit of kits) {
  // Mocha pauses a test's timeout; the others have no way to do so.
  test(`${kit.runner}: shows tests that wait for a person, when asked to and when failed`, {
    tag: kit.runner === 'mocha' ? [] : sharedTag(kit),
  }, async ({ newConsumer, service }) => {
    const consumer = await newConsumer('latest', 'commonjs', kit.packages);
    const names = ['logs in by hand', 'fails with a page'].map((name) => ownTitle(`${name} with ${kit.runner}`));
    const [logsIn = '', fails = ''] = names;
    const body = `await page.goto(${JSON.stringify(LOGIN)}); expect(1).toBe(2);`;
    const file = kit.file('a', [
      { name: logsIn, body: HOLD },
      { name: fails, body },
    ]);
    await consumer.write({ ...kit.config, ...Object.fromEntries([file]) });
    const run = startCommand(consumer, kit.args, { ...service.env, POOLWRIGHT_HOLD: 'failure' });
    for (const [name, reason] of [
      [logsIn, 'log in with the code'],
      [fails, 'the test failed'],
    ] as const) {
      const watched = watchRun(name);
      try {
        await expect.poll(() => watched.slot()?.hold?.reason, { timeout: 60_000 }).toBe(reason);
        expect(watched.view()).toMatchObject({ runner: kit.runner, endedAt: null });
        expect(watched.slot()?.test?.title).toContain(name);
        expect(watched.slot()?.sessionId).toBe((await service.running())[0]);
        await logIn(watched);
        release(watched);
        if (name === logsIn) await expect.poll(() => watched.slot()?.hold ?? null).toBeNull();
        else await expect.poll(() => watched.view()?.endedAt).not.toBeNull();
        // Watched from its middle on, and kept after its end.
        const finished = { title: expect.stringContaining(name), ok: name === logsIn, hasPicture: true };
        await expect.poll(() => watched.view()?.finished).toContainEqual(expect.objectContaining(finished));
      } finally {
        await watched.close();
      }
    }
    expect((await run.exit).code, run.output()).toBe(1);
    expect(run.output()).toContain(`${logsIn}" is on hold until`);
    expect(await holdsOf(consumer)).toMatchObject([
      { reason: 'log in with the code', end: 'released' },
      { reason: 'the test failed', end: 'released' },
    ]);
    await expect.poll(() => leftProcesses(consumer.directory)).toEqual([]);
  });
}

/** Fills in the form, as the person sees it. */
async function logIn(watched: Watched): Promise<void> {
  watched.demand('large');
  await expect.poll(() => watched.pictures.at(-1)?.url).toBe(LOGIN);
  const { slot = 0 } = watched.slot() ?? {};
  const picture = watched.lastPicture();
  const control = {
    input: (target: string, input: PageInput) => watched.run()?.input(slot, target, input),
    end: () => undefined,
  };
  const person = new Person(control, picture.target, picture);
  person.click({ x: 100, y: 25 });
  person.type('Jane');
  person.paste(' 42');
  person.click({ x: 100, y: 75 });
  // The picture of the pressed button.
  const { length } = watched.pictures;
  await expect.poll(() => watched.pictures.length).toBeGreaterThan(length);
}

function release(watched: Watched): void {
  watched.run()?.release(watched.slot()?.slot ?? 0);
}

/** The recorded holds of all tests, in their order. */
async function holdsOf(consumer: Consumer) {
  const file = join(consumer.directory, 'test-results/poolwright/run.json');
  const record: RunRecord = JSON.parse(await readFile(file, 'utf8'));
  return record.sessions
    .flatMap(({ tests }) => tests)
    .flatMap(({ holds }) => holds)
    .sort((one, other) => one.startedAt.localeCompare(other.startedAt));
}
