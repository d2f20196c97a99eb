import { execFile } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import type { Page } from '@playwright/test';
import { hostedBrowserAttachment } from '../../../src/record/attachment.ts';
import type { Consumer } from '../../support/e2e/consumer.ts';
import { expect, test } from '../../support/e2e/fixtures.ts';
import { COMPILE_CACHE } from '../../support/e2e/run-command.ts';
import { hostedAttachments, type ReportedTest } from '../../support/e2e/run-playwright.ts';
import { wrappedConfig } from '../../support/e2e/suites.ts';
import { fullLength } from '../../support/property-runs.ts';

/** The data that every reporter has about every kind of test. */

test.use({ browsers: 'stub' });

const SITE = 'data:text/html,<title>with asset</title>';
const NEVER = `await page.waitForEvent('popup');`;

/** Each worker has a separate browser here, so each attempt has a different session. */
const ENDINGS = `
test('passes', async ({ page }) => { await page.goto('${SITE}'); });
test('uses no browser', () => {});
test('fails once', async ({ page }, { retry }) => { await page.goto('${SITE}'); expect(retry).toBe(1); });
test('fails', async ({ page }) => { await page.goto('${SITE}'); expect(1).toBe(2); });
test.describe.serial('serial', () => {
  test('first of the group', async ({ page }) => { await page.goto('${SITE}'); });
  test('breaks the group', async ({ page }) => { await page.goto('${SITE}'); expect(1).toBe(2); });
  test('left out of the group', async ({ page }) => { await page.goto('${SITE}'); });
});
test.skip('skipped', async ({ page }) => { await page.goto('${SITE}'); });
test.fixme('to be fixed', async ({ page }) => { await page.goto('${SITE}'); });
test('skips itself at once', async () => { test.skip(); });
test('skips itself half-way', async ({ page }) => { await page.goto('${SITE}'); test.skip(true, 'enough'); });
test('asks by itself', async ({ request }) => { await request.get('/'); });`;

/** One page for several tests, and pages that stay open. */
const SHARING = `
test.describe.serial('one page', () => {
  let page;
  test.beforeAll(async ({ browser }) => { page = await browser.newPage(); await page.goto('${SITE}'); });
  test.afterAll(async () => { await page.close(); });
  test('finds the page open', async () => { expect(await page.title()).toBe('with asset'); });
  test('has nothing to do with it', () => {});
  test('goes on with the page', async () => { await page.reload(); });
});
test('two contexts', async ({ browser }) => {
  for (const _ of [1, 2]) await (await (await browser.newContext()).newPage()).goto('${SITE}');
});
test('uses nothing of what was left open', () => {});`;

/** Tests and hooks that time out. */
const TIMED_OUT = `
test.describe.configure({ retries: 0 });
test('times out', async ({ page }) => { test.setTimeout(1_500); await page.goto('${SITE}'); ${NEVER} });
test.describe('hooks', () => {
  test.beforeEach(async ({ page }) => { test.setTimeout(1_500); await page.goto('${SITE}'); ${NEVER} });
  test('times out before it begins', () => {});
});
test.describe('hooks of all', () => {
  test.beforeAll(async ({ browser }) => { test.setTimeout(1_500); const page = await browser.newPage(); ${NEVER} });
  test('times out before all', () => {});
  test('never begins', () => {});
});
test.extend({ stuck: async ({ page }, use) => { test.setTimeout(1_500); await page.goto('${SITE}'); ${NEVER} } })(
  'times out in a fixture', ({ stuck }) => {});
test.extend({ stuck: async ({ page }, use) => { await page.goto('${SITE}'); await use(1); ${NEVER} } })(
  'times out when it is over', ({ stuck }) => {});`;

/** Every attempt of every test: its result, and whether it used a browser. */
const EXPECTED: Record<string, [status: string, browser: boolean][]> = {
  passes: [['passed', true]],
  'uses no browser': [['passed', false]],
  'fails once': [
    ['failed', true],
    ['passed', true],
  ],
  fails: [
    ['failed', true],
    ['failed', true],
  ],
  'first of the group': [
    ['passed', true],
    ['passed', true],
  ],
  'breaks the group': [
    ['failed', true],
    ['failed', true],
  ],
  'left out of the group': [
    ['skipped', false],
    ['skipped', false],
  ],
  skipped: [['skipped', false]],
  'to be fixed': [['skipped', false]],
  'skips itself at once': [['skipped', false]],
  'skips itself half-way': [['skipped', true]],
  'asks by itself': [['passed', false]],
  'finds the page open': [['passed', true]],
  'has nothing to do with it': [['passed', false]],
  'goes on with the page': [['passed', true]],
  'two contexts': [['passed', true]],
  'uses nothing of what was left open': [['passed', false]],
  'times out': [['timedOut', true]],
  'times out before it begins': [['timedOut', true]],
  'times out before all': [['timedOut', true]],
  'never begins': [['skipped', false]],
  'times out in a fixture': [['timedOut', true]],
  'times out when it is over': [['timedOut', true]],
};

/** Tests that are opened in the HTML report: all, or one of each kind. */
const OPENED = fullLength(Object.keys(EXPECTED), [
  'uses no browser',
  'fails once',
  'skips itself half-way',
  'goes on with the page',
  'times out before it begins',
]);

const CONFIG = wrappedConfig(
  `{ exposeNetwork: '' }`,
  `retries: 1, workers: 2, projects: [
    { name: 'endings', testMatch: 'endings.spec.ts', use: { hosted: { reuse: 'worker' } } },
    { name: 'sharing', testMatch: 'sharing.spec.ts' },
    { name: 'short', testMatch: 'timed-out.spec.ts', timeout: 4_000 },
  ],`,
).replace(
  "['json']",
  "['json'], ['html', { open: 'never' }], ['junit', { outputFile: 'junit.xml' }], ['blob', { outputFile: 'blobs/report.zip' }]",
);

/** Returns the session of each attempt of each test from the JSON report; null: it used no browser. */
function sessionsOf(tests: ReportedTest[]): Record<string, (string | null)[]> {
  return Object.fromEntries(
    tests.map(({ title, project, results }) => [
      title,
      results.map((result) => {
        const [attached, ...more] = hostedAttachments(result);
        expect(more, title).toEqual([]);
        if (!attached) return null;
        const { sessionId, infrastructureFailure, ...others } = hostedBrowserAttachment.strict().parse(attached);
        expect({ infrastructureFailure, ...others }, title).toMatchObject({ infrastructureFailure: null, project });
        return sessionId;
      }),
    ]),
  );
}

/** Returns the `hosted-browser` properties of each test case in a JUnit report. */
function junitProperties(xml: string): Record<string, string[]> {
  const cases = [...xml.matchAll(/<testcase name="([^"]*)"[^>]*>(.*?)<\/testcase>/gs)];
  return Object.fromEntries(
    cases.map(([, name = '', body = '']) => [
      name.split(' › ').at(-1),
      [...body.matchAll(/<property name="hosted-browser" value="([^"]*)"/g)].map(([, value = '']) => value),
    ]),
  );
}

/**
 * Expects that a test's page in an HTML report shows this session for an attempt, in its attachment and as an
 * annotation (older versions show the annotation of the last attempt).
 */
async function expectShown(page: Page, title: string, tries: (string | null)[] = [], retry = 0): Promise<void> {
  const session = tries[retry] ?? null;
  await expect(page.getByText(title, { exact: true }).first()).toBeVisible();
  const attachment = page.getByText('hosted-browser', { exact: true }).last();
  if (session === null) {
    await expect(page.getByText('hosted-browser')).toHaveCount(0);
    return;
  }
  await expect(page.getByText(new RegExp(`^hosted-browser: (${session}|${tries.at(-1)})$`))).toBeVisible();
  await attachment.click();
  await expect(page.getByText(`"sessionId": "${session}"`)).toBeVisible();
}

function address(consumer: Consumer, file: string): string {
  return pathToFileURL(`${consumer.directory}/${file}`).href;
}

test('attachments › give every reporter the session of every try that used one', {
  tag: ['@versions', '@long'],
}, async ({ runSuite, page }) => {
  const run = await runSuite({
    tests: { endings: ENDINGS, sharing: SHARING, 'timed-out': TIMED_OUT },
    files: { 'playwright.config.ts': CONFIG },
    code: 1,
  });

  const tests = await run.tests();
  const sessions = sessionsOf(tests);
  await test.step('JSON', () => {
    const seen = tests.map(({ title, results }) => [
      title,
      results.map(({ status }, n) => [status, sessions[title]?.[n] !== null]),
    ]);
    expect(Object.fromEntries(seen)).toEqual(EXPECTED);
    for (const title of ['fails once', 'fails', 'first of the group']) {
      expect(new Set(sessions[title]).size, title).toBe(2);
    }
    for (const { title, annotations } of tests) {
      const named = annotations.filter(({ type }) => type === 'hosted-browser').map(({ description }) => description);
      // With several attempts, Playwright has the data of the last one here.
      expect(named, title).toEqual(sessions[title]?.slice(-1).filter((session) => session !== null));
    }
  });

  await test.step('run.json', async () => {
    const record = await run.record();
    for (const { sessionId, tests: served, observedBytes, bandwidthBytes } of record.sessions) {
      const tries = served.map(({ title, retry }) => [title.split(' › ').at(-1) ?? '', retry] as const);
      for (const [title, retry] of tries) expect(sessions[title]?.[retry], title).toBe(sessionId);
      expect(observedBytes).toBe(served.reduce((sum, one) => sum + (one.observedBytes ?? 0), 0));
      expect(bandwidthBytes).toBeGreaterThanOrEqual(observedBytes);
    }
    const used = Object.values(sessions).flat();
    const served = record.sessions.flatMap((session) => session.tests);
    expect(served).toHaveLength(used.filter((session) => session !== null).length);
  });

  await test.step('JUnit: the annotations of the last try, as properties', async () => {
    const properties = junitProperties(await run.consumer.read('junit.xml'));
    const last = Object.entries(sessions).map(([title, tries]) => [title, tries.slice(-1).filter((one) => one)]);
    expect(properties).toEqual(Object.fromEntries(last));
  });

  await test.step('HTML', async () => {
    const report: { suites: unknown } = JSON.parse(await run.consumer.read('report.json'));
    const ids = [...JSON.stringify(report.suites).matchAll(/"id":"([^"]+)","file":"[^"]*"/g)];
    expect(ids).toHaveLength(tests.length);
    for (const [n, { title }] of tests.entries()) {
      if (!OPENED.includes(title)) continue;
      for (const retry of (sessions[title] ?? []).keys()) {
        await page.goto('about:blank');
        await page.goto(`${address(run.consumer, 'playwright-report/index.html')}#?testId=${ids[n]?.[1]}&run=${retry}`);
        await expectShown(page, title, sessions[title], retry);
      }
    }
  });

  await test.step('the timeline leads to every try in it', async () => {
    const timeline = address(run.consumer, 'test-results/poolwright/timeline.html');
    await page.goto(timeline);
    const bars = page.locator('.chart').getByRole('link');
    await expect(bars).toHaveCount(Object.values(sessions).flatMap((tries) => tries.filter((one) => one)).length);
    for (const [name, title, retry] of [
      ['passes: passed', 'passes', 0],
      ['fails once: failed', 'fails once', 0],
      ['fails once: passed, retry 1', 'fails once', 1],
      ['hooks › times out before it begins: timed out', 'times out before it begins', 0],
    ] as const) {
      await page.goto(timeline);
      await page.getByRole('link', { name, exact: true }).click();
      await expectShown(page, title, sessions[title], retry);
      await page.screenshot({ path: test.info().outputPath(`${title}, ${retry}.png`), fullPage: true });
    }
  });

  await test.step('blob, merged', async () => {
    const env = {
      PATH: process.env.PATH,
      NODE_OPTIONS: COMPILE_CACHE,
      PLAYWRIGHT_JSON_OUTPUT_NAME: 'report.json', // instead of the run's own
      PLAYWRIGHT_HTML_OUTPUT_DIR: 'merged',
      PLAYWRIGHT_HTML_REPORT: 'merged',
      PLAYWRIGHT_HTML_OPEN: 'never',
    };
    const args = [run.consumer.playwrightCli, 'merge-reports', '--reporter=html,json', 'blobs'];
    await promisify(execFile)(process.execPath, args, { cwd: run.consumer.directory, env });
    const merged = await run.tests();
    expect(sessionsOf(merged)).toEqual(sessions);
    for (const one of tests) {
      expect(merged.find(({ title }) => title === one.title)?.annotations, one.title).toEqual(one.annotations);
    }
    await page.goto(address(run.consumer, 'merged/index.html'));
    await page.getByRole('link', { name: 'times out before all' }).first().click();
    await expectShown(page, 'times out before all', sessions['times out before all']);
  });
});
