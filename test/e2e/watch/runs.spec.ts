import { decoded } from '../../support/cdp/pictures.ts';
import { expect, test } from '../../support/e2e/fixtures.ts';
import { leftProcesses } from '../../support/e2e/process-tree.ts';
import { startPlaywright } from '../../support/e2e/run-playwright.ts';
import { startService } from '../../support/e2e/service.ts';
import { ownTitle, watchRun } from '../../support/watch/watched-run.ts';

/** What somebody who watches sees of a run, from before the run or from its middle on. hold.spec.ts watches runners. */

const RED = `data:text/html,<title>red</title><body style="background:red">`;
/** Goes on when the file exists. */
const WAITS = `
  const { existsSync } = process.getBuiltinModule('node:fs');
  while (!existsSync('go-on')) await new Promise((resolve) => setTimeout(resolve, 50));`;

const WANTS_IT = ownTitle('wants the only browser');
const WANTS_THE_BROWSER = `
  const { test } = require('@playwright/test');
  test('${WANTS_IT}', async ({ browser }) => {${WAITS}});`;

test.use({ browsers: 'shell' });

test('Playwright: shows tests, steps, pages and pictures, also of a run that began earlier, and keeps them', async ({
  newConsumer,
  service,
  page,
}) => {
  const consumer = await newConsumer();
  const title = ownTitle('fails in red');
  await consumer.write({
    'playwright.config.js': `
      const { withHostedBrowsers } = require('poolwright');
      module.exports = withHostedBrowsers({ testDir: '.', retries: 0, projects: [{ name: 'shop' }] });`,
    'a.spec.js': `
      const { test, expect } = require('@playwright/test');
      test('${title}', async ({ page }) => {
        await page.goto(${JSON.stringify(RED)});
        await test.step('waits in a step', async () => {${WAITS}});
        expect(1).toBe(2);
      });
      test('passes later', async ({ page }) => { await page.goto('about:blank'); });`,
  });
  const before = watchRun(title);
  const run = startPlaywright(consumer, ['--workers=1'], service.env);
  try {
    for (const watched of [before, watchRun(title)]) {
      await expect.poll(() => watched.slot()?.test?.step ?? null, { timeout: 60_000 }).toBe('waits in a step');
      expect(watched.view()).toMatchObject({ runner: 'playwright', endedAt: null, failed: 0 });
      expect(watched.slot()).toMatchObject({
        slot: 0,
        waitsFor: null,
        test: { title, project: 'shop' },
        hold: null,
      });
      const [sessionId] = await service.running();
      expect(watched.slot()?.sessionId).toBe(sessionId);
      expect(watched.pictures).toEqual([]);
      watched.demand('small');
      await expect.poll(() => watched.pictures.at(-1)?.url).toBe(RED);
      const small = await decoded(page, watched.lastPicture());
      // The one who watches longer wants large ones by now.
      if (watched === before) expect(small.width).toBe(480);
      expect(small.colour[0]).toBeGreaterThan(240);
      watched.demand('large');
      await expect.poll(async () => (await decoded(page, watched.lastPicture())).width).toBe(1280);
      await expect
        .poll(() => watched.slot()?.pages)
        .toEqual(expect.arrayContaining([{ target: expect.any(String), url: RED }]));
      expect(watched.view()?.pictureBytes).toBeGreaterThan(1_000);
      if (watched !== before) await watched.close();
    }
    await consumer.write({ 'go-on': '' });
    expect((await run.exit).code).toBe(1);
    await expect.poll(() => before.view()?.endedAt).not.toBeNull();
    expect(before.view()).toMatchObject({ passed: 1, failed: 1, slots: [] });
    const failed = before.view()?.finished.find(({ ok }) => !ok);
    expect(failed).toMatchObject({ title, status: 'failed', retry: 0, hasPicture: true });
    expect(
      before
        .run()
        ?.lastPicture(failed?.id ?? '')
        ?.subarray(0, 2)
        .toString('hex'),
    ).toBe('ffd8');
    // The pictures are on record: they may cost money.
    const record = JSON.parse(await consumer.read('test-results/poolwright/run.json'));
    const { pictureBytes = 0 } = before.view() ?? {};
    expect(pictureBytes).toBeGreaterThan(1_000);
    expect(record.sessions[0].pictureBytes).toBeGreaterThanOrEqual(pictureBytes);
    expect(run.output()).toMatch(/used {6}.*\b[\d.]+ [kM]B of pictures of pages/);
  } finally {
    await before.close();
  }
  await expect.poll(() => leftProcesses(consumer.directory)).toEqual([]);
});

test('shows what a slot without a browser waits for', { tag: '@slow' }, async ({ newConsumer }) => {
  const service = await startService({ browser: 'stub', concurrentBrowsers: 1 });
  const consumer = await newConsumer();
  await consumer.write({
    'playwright.config.js': `
      const { withHostedBrowsers } = require('poolwright');
      module.exports = withHostedBrowsers({ testDir: '.' });`,
    // Either may get it first, and keeps it.
    'a.spec.js': WANTS_THE_BROWSER,
    'b.spec.js': WANTS_THE_BROWSER,
  });
  const watched = watchRun(WANTS_IT);
  const run = startPlaywright(consumer, ['--workers=2'], service.env);
  try {
    const waiting = () => watched.view()?.slots.find(({ waitsFor }) => waitsFor !== null);
    await expect
      .poll(() => waiting()?.waitsFor)
      .toBe('the workspace is at its concurrent-browser limit, waiting for a browser to end');
    expect(waiting()).toMatchObject({ sessionId: null, test: { title: WANTS_IT } });
    await consumer.write({ 'go-on': '' });
    expect((await run.exit).code, run.output()).toBe(0);
    await expect.poll(() => watched.view()?.slots).toEqual([]);
  } finally {
    await watched.close();
    await service.stop();
  }
});
