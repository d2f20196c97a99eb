import { writeFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import type { Page } from '@playwright/test';
import { timelinePage } from 'poolwright/reporter';
import type { RunRecord, TestRecord } from '../../../src/record/run-record.ts';
import { violationsOn } from '../../support/accessibility.ts';
import { test as base, expect } from '../../support/e2e/fixtures.ts';
import { fullLength } from '../../support/property-runs.ts';
import { aRecord, aSession, aTest, at } from '../../support/unit/records.ts';
import { drawnRecord } from './timelines.ts';

/** The timeline page in a real browser, loaded from its file. */

const SIZES = [
  { colorScheme: 'light', width: 420, height: 800 },
  { colorScheme: 'dark', width: 1024, height: 768 },
  { colorScheme: 'light', width: 1920, height: 1080 },
] as const;

interface Fixtures {
  /** Opens the page of a record; `said` collects its network requests and its console output. */
  open(record: RunRecord, report?: string): Promise<void>;
  said: string[];
}

const test = base.extend<Fixtures>({
  said: async ({}, use) => {
    await use([]);
  },
  open: async ({ page, said }, use) => {
    const file = test.info().outputPath('timeline.html');
    page.on('console', (message) => said.push(`${message.type()}: ${message.text()}`));
    page.on('pageerror', (error) => said.push(String(error)));
    page.on('request', (request) => {
      if (request.url() !== pathToFileURL(file).href) said.push(`asked for ${request.url().slice(0, 100)}`);
    });
    await use(async (record, report) => {
      await writeFile(file, timelinePage(record, report));
      await page.goto(pathToFileURL(file).href);
    });
    expect(said.filter((text) => text !== 'asked for data:,')).toEqual([]);
  },
});

const tests = (page: Page) => page.locator('.chart .test');

/** How many figures each row has, from the top. */
async function cardsInRows(page: Page): Promise<number[]> {
  const tops = await page
    .locator('.figures > div')
    .evaluateAll((cards) => cards.map((card) => Math.round(card.getBoundingClientRect().top)));
  return [...new Set(tops)].map((top) => tops.filter((each) => each === top).length);
}

test('timeline › is accessible and does not overflow, light and dark, at every size', async ({ page, open }) => {
  await open(drawnRecord(8, 90), '../../playwright-report/index.html');
  await expect(tests(page)).toHaveCount(90);
  for (const { colorScheme, ...size } of SIZES) {
    await page.setViewportSize(size);
    await page.emulateMedia({ colorScheme });
    expect(await violationsOn(page)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(size.width);
    expect(await cardsInRows(page), 'no figure is alone in its row').not.toContain(size.width > 600 ? 1 : 2);
    const background = await page.evaluate('getComputedStyle(document.body).backgroundColor');
    expect(background).toBe(colorScheme === 'light' ? 'rgb(255, 255, 255)' : 'rgb(18, 23, 28)');
    await tests(page).nth(12).focus();
    await expect(page.getByRole('tooltip')).toBeVisible();
    const file = test.info().outputPath(`${colorScheme}-${size.width}.png`);
    await page.screenshot({ path: file, fullPage: true });
    await test.info().attach(`${colorScheme} ${size.width}`, { path: file, contentType: 'image/png' });
  }
});

test('timeline › draws 200 slots and thousands of tests in less than 3 MB', { tag: '@long' }, async ({
  page,
  open,
}) => {
  const count = fullLength(5_000, 2_000);
  const record = drawnRecord(200, count);
  expect(record.sessions.flatMap((session) => session.tests)).toHaveLength(count);
  const html = timelinePage(record, '../../playwright-report/index.html');
  expect(Buffer.byteLength(html)).toBeLessThan(3_000_000);
  await open(record, '../../playwright-report/index.html');
  await expect(tests(page)).toHaveCount(count);
  const lanes = page.getByRole('group', { name: /^shard \d\/2, slot \d+$/ });
  await expect(lanes).toHaveCount(200);
  const paint = await page.evaluate("performance.getEntriesByName('first-contentful-paint')[0]?.startTime");
  test.info().annotations.push({ type: 'first paint', description: `${paint} ms` });
  await page.screenshot({ path: test.info().outputPath('page.png') });
  expect(await violationsOn(page, ['.controls', '.figures'])).toEqual([]);
});

test('timeline › shows sessions and tests, their details and links to the HTML report', async ({ page, open }) => {
  const record = drawnRecord(4, 44);
  await open(record, '../../playwright-report/index.html');
  const lane = page.getByRole('group', { name: 'shard 1/2, slot 2', exact: true });
  const served = record.sessions.filter(({ parallelIndex }) => parallelIndex === 2);
  await expect(lane.getByRole('button')).toHaveCount(served.length);
  await expect(lane.getByRole('link')).toHaveCount(11);
  const lost = lane.getByRole('link', { name: /: browser lost$/ });
  await expect(lost).toHaveCount(1);
  const { id, title, infrastructureFailure } = served[0]?.tests.at(-1) ?? {};
  await expect(lost).toHaveAttribute('href', `../../playwright-report/index.html#?testId=${id}`);

  const tip = page.getByRole('tooltip');
  await expect(tip).toBeHidden();
  await lost.hover();
  for (const text of [title, infrastructureFailure, served[0]?.sessionId])
    await expect(tip).toContainText(String(text));
  await page.mouse.move(0, 0);
  await expect(tip).toBeHidden();
  await lane.getByRole('button').first().focus();
  await expect(tip).toContainText('pool pool_e2e');
  await expect(tip).toContainText(/Service\s*\d\.\d MB/);
  await expect(tip).toContainText(/Ended\s*lost/);
  await page.keyboard.press('Escape');
  await expect(tip).toBeHidden();

  // The position of a bar shows its time.
  const track = await lane.locator('.track').boundingBox();
  const bar = await lost.boundingBox();
  const moments = record.sessions
    .flatMap(({ requestedAt, endedAt }) => [requestedAt, endedAt])
    .map((at) => Date.parse(at ?? ''));
  const [from, until] = [Math.min(...moments), Math.max(...moments)];
  const share = (Date.parse(served[0]?.tests.at(-1)?.startedAt ?? '') - from) / (until - from);
  expect(((bar?.x ?? 0) - (track?.x ?? 0)) / (track?.width ?? 1)).toBeCloseTo(share, 2);
});

test('timeline › reaches every bar by keyboard: one tab stop, then arrow keys', async ({ page, open }) => {
  await open(drawnRecord(3, 12));
  await page.getByRole('button', { name: 'Zoom in' }).focus();
  await page.keyboard.press('Tab');
  const focused = page.locator(':focus');
  await expect(focused).toHaveAccessibleName(/^session session-0-/);
  await tests(page).first().click({ trial: true }); // the session does not cover them
  await page.keyboard.press('ArrowRight');
  await expect(focused).toHaveAccessibleName(/customer number 0 pays/);
  await page.keyboard.press('End');
  await expect(focused).toHaveAccessibleName(/customer number 3 pays/);
  await page.keyboard.press('ArrowRight'); // there is none: the focus stays
  await expect(focused).toHaveAccessibleName(/customer number 3 pays/);
  await page.keyboard.press('ArrowDown');
  await expect(focused).toHaveAccessibleName(/customer number (8|9|10|11) pays/); // shard 1/2 comes first: slot 2
  await page.keyboard.press('Home');
  await expect(focused).toHaveAccessibleName(/^session session-2-/);
  await page.keyboard.press('ArrowUp');
  await expect(focused).toHaveAccessibleName(/session-0-|customer number [0-3] pays/);
  await page.keyboard.press('Tab');
  await expect(focused).toHaveAccessibleName(/pays by/); // a row of the tables: the chart was one stop
  expect(await focused.evaluate((element) => element.closest('table') !== null)).toBe(true);
});

test('timeline › filters, zooms, and jumps from the tables to a bar', async ({ page, open }) => {
  const record = drawnRecord(6, 60);
  await open(record);
  const all = record.sessions.flatMap((session) => session.tests.map((test) => ({ test, session })));
  const expectShown = async (shown: typeof all) => {
    await expect(tests(page)).toHaveCount(shown.length);
    await expect(page.locator('.status')).toContainText(`${shown.length} of 60 tests`);
  };
  await expectShown(all);
  await page.getByRole('combobox', { name: 'Project' }).selectOption('de');
  await expectShown(all.filter(({ test }) => test.project === 'de'));
  await page.getByRole('combobox', { name: 'Shard' }).selectOption('2/2');
  await expectShown(all.filter(({ test, session }) => test.project === 'de' && session.shard?.current === 2));
  await page.getByRole('combobox', { name: 'Project' }).selectOption('all');
  await page.getByLabel('failures only').check();
  await expectShown(all.filter(({ test, session }) => !test.ok && session.shard?.current === 2));

  const table = page.getByRole('table', { name: 'Heaviest tests' });
  const moved = ({ observedBytes, proxiedBytes }: TestRecord) => (observedBytes ?? 0) + (proxiedBytes ?? 0);
  const [heaviest] = all.map(({ test }) => test).sort((a, b) => moved(b) - moved(a));
  await expect(table.getByRole('row').nth(1)).toContainText('645.0 kB');
  await expect(table.getByRole('row')).toHaveCount(6);
  await table.getByRole('button').first().click(); // it is filtered out: everything is shown again
  await expectShown(all);
  await expect(page.locator(':focus')).toHaveAccessibleName(
    new RegExp(heaviest?.title.split(' › ')[1]?.slice(0, 20) ?? ''),
  );

  const width = () =>
    page
      .locator('.chart .track')
      .first()
      .evaluate((track) => track.clientWidth);
  const before = await width();
  await page.getByRole('button', { name: 'Zoom in' }).click();
  expect((await width()) / before).toBeCloseTo(2, 1);
});

test('timeline › shows a crashed run, one without browsers, and overlapping browsers', async ({ page, open }) => {
  const died = aSession({ endingAt: null, endedAt: null, endReason: null, tests: [aTest({})] });
  await open(aRecord({ sessions: [died], endedAt: null }));
  await expect(tests(page)).toHaveCount(1);
  await page.getByRole('button', { name: /ended: running$/ }).focus();
  await expect(page.getByRole('tooltip')).toContainText('running');

  await open(aRecord({ leaseFailures: ['out of credit </script><b>'] }));
  await expect(page.getByText('no browser: out of credit </script><b>')).toBeVisible();

  const next = aSession({ sessionId: 'next', requestedAt: at(10), startedAt: at(12), lentAt: at(20), endedAt: at(30) });
  await open(aRecord({ sessions: [aSession({}), next] }));
  const tops = await page
    .locator('.chart .session')
    .evaluateAll((bars) => bars.map((bar) => bar.getBoundingClientRect().top));
  expect(tops[1]).toBeGreaterThan(tops[0] ?? Number.NaN);
  await expect(page.getByRole('group', { name: 'slot 0' })).toHaveCount(1);
});

test('timeline › shows untrusted titles as text, and draws invalid records', async ({ page, open }) => {
  const errors: string[] = [];
  page.on('pageerror', ({ message }) => errors.push(message));
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
  const markup = `</script><img src=x onerror="document.title='taken'"><script>document.title='taken'</script>`;
  const tests = [markup, '\u202eesrever', '\ud800', 'a\n::error::b'].map((title, n) =>
    aTest({
      id: `${title}${n}`,
      title,
      project: title,
      file: title,
      infrastructureFailure: title,
      startedAt: at(4 + n / 8),
      endedAt: at(4.1 + n / 8),
    }),
  );
  const extreme = aSession({
    sessionId: markup,
    startedAt: '0000-01-01T00:00:00Z',
    waitMs: 1e12,
    bridgedBytes: Number.MAX_SAFE_INTEGER,
  });
  for (const sessions of [[aSession({ sessionId: markup, tests })], [aSession({ tests }), extreme]]) {
    await open(aRecord({ runId: markup, sessions, leaseFailures: [markup] }), '../report/index.html');
    await expect(page.locator('.chart .test')).toHaveCount(4);
    await expect(page).toHaveTitle(`poolwright timeline ${markup}`);
    await expect(page.getByText('esrever').first()).toBeVisible();
    expect(await page.locator('body').innerText()).not.toMatch(/NaN|Infinity|Invalid Date/);
  }
  expect(errors).toEqual([]);
});

test('timeline › draws what was observed and what was proxied, and names only what there is', async ({
  page,
  open,
}) => {
  const session = aSession({
    requestedAt: at(4),
    startedAt: at(4),
    lentAt: at(4),
    waitMs: 0,
    endingAt: at(6),
    endedAt: at(6),
  });
  const show = async (observedBytes: number | null, proxiedBytes: number | null) => {
    await open(aRecord({ sessions: [{ ...session, tests: [aTest({ observedBytes, proxiedBytes })] }] }));
    const track = page.locator('.strip .track');
    await track.hover({ position: { x: 0.2 * ((await track.boundingBox())?.width ?? 0), y: 10 } });
    const heights = await page
      .locator('.strip svg path')
      .evaluateAll((paths) => paths.map((path) => [path.getAttribute('class'), path.getBoundingClientRect().height]));
    const whole = (await page.locator('.strip svg').boundingBox())?.height ?? Number.NaN;
    return {
      heights: Object.fromEntries(heights.map(([name, height]) => [name, Math.round((Number(height) / whole) * 100)])),
      label: await page.locator('.strip .label').innerText(),
      described: await page.locator('.strip svg').getAttribute('aria-label'),
      tip: await page.getByRole('tooltip').innerText(),
    };
  };
  // The test takes two seconds. Areas are stacked.
  expect(await show(1_200_000, 4_800_000)).toEqual({
    heights: { observed: 19, proxied: 96 },
    label: 'observed\nproxied\n≤ 3.0 MB/s',
    described: 'observed and proxied bandwidth, at most 3.0 MB per second',
    tip: '0:00: 600.0 kB/s observed, 2.4 MB/s proxied',
  });
  expect(await show(0, 4_000)).toEqual({
    heights: { proxied: 96 },
    label: 'proxied\n≤ 2.0 kB/s',
    described: 'proxied bandwidth, at most 2.0 kB per second',
    tip: '0:00: 2.0 kB/s proxied',
  });
  // As in records of earlier versions.
  expect((await show(4_000, null)).label).toBe('observed\n≤ 2.0 kB/s');
  const none = { heights: {}, label: 'no bandwidth', described: 'no bandwidth', tip: '0:00: no bandwidth' };
  expect(await show(null, null)).toEqual(none);
});

test('timeline › labels the axis of a short run in seconds', async ({ page, open }) => {
  const session = { requestedAt: at(0), startedAt: at(0.1), lentAt: null, endingAt: at(1.3), endedAt: at(1.35) };
  await open(
    aRecord({ sessions: [aSession({ ...session, tests: [aTest({ startedAt: at(0.2), endedAt: at(1.2) })] })] }),
  );
  const labels = (await page.locator('.axis .track span').allTextContents()).filter((label) => label !== '');
  expect(labels.slice(0, 3)).toEqual(['0.0 s', expect.stringMatching(/^0\.\d s$/), expect.stringMatching(/^0\.\d s$/)]);
  expect(labels.filter((label) => !/^\d\.\d s$/.test(label))).toEqual([]);
  expect(new Set(labels).size).toBe(labels.length);
});

test('timeline › says how the tests ended, and shows a retry as one', async ({ page, open }) => {
  const failed = aTest({ id: 'flaky', title: 'flaky', status: 'failed', ok: false });
  const retried = aTest({ id: 'flaky', title: 'flaky', retry: 1, startedAt: at(6), endedAt: at(7) });
  const passed = aTest({ id: 'passes', title: 'passes', startedAt: at(8), endedAt: at(9) });
  await open(aRecord({ sessions: [aSession({ tests: [failed, retried, passed] })] }));
  await expect(page.locator('.tally')).toHaveText('2 tests: 1 passed, 1 flaky');
  await expect(page.locator('.chart .test.retry')).toHaveCount(1);
  await expect(page.getByRole('button', { name: /^flaky: .*, retry 1$/ })).toHaveClass(/\bretry\b/);
});
