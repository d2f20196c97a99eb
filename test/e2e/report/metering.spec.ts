import { pathToFileURL } from 'node:url';
import { bytes } from '../../../src/report/summary/format.ts';
import { expect, test } from '../../support/e2e/fixtures.ts';
import { hostedAttachments } from '../../support/e2e/run-playwright.ts';
import { ASSET_BYTES } from '../../support/e2e/site.ts';
import type { SuiteRun } from '../../support/e2e/suite-run.ts';
import { BIG_BYTES, startCountingSite } from './counting-site.ts';
import { startFigureProxy } from './figure-proxy.ts';

/** Which bytes belong to which test, and the service's figures of a session. */

const SUITE = `
const big = (name) => process.env.SITE_URL + '/' + name + '/big';
const fetched = (url) => fetch(url).then((response) => response.text()).then((text) => text.length);

test.describe.serial('one page', () => {
  let shared;
  test.beforeAll(async ({ browser }) => { shared = await browser.newPage(); await shared.goto(big('first')); });
  test.afterAll(async () => { await shared.close(); });
  test('first', async () => { await shared.evaluate(fetched, big('first')); });
  test('idle', () => {});
  test('second', async ({ browser }) => {
    await shared.evaluate(fetched, big('second'));
    const own = await browser.newPage();
    await own.goto(big('second'));
    await own.close();
    await shared.evaluate(fetched, big('second'));
  });
});
test('contexts', async ({ page, browser }) => {
  await page.goto(big('contexts'));
  for (const close of [true, false]) {
    const context = await browser.newContext();
    await (await context.newPage()).goto(big('contexts'));
    if (close) await context.close();
  }
  const [popup] = await Promise.all([page.waitForEvent('popup'), page.evaluate((url) => void open(url), big('contexts'))]);
  await popup.waitForLoadState();
});
test('after', async ({ page }) => { await page.goto(big('after')); });
test('worker', async ({ page }) => {
  await page.goto(big('worker'));
  await page.evaluate(() => new Promise((done) => { new Worker('worker.js').onmessage = done; }));
});
test('socket', async ({ page }) => {
  await page.goto(big('socket'));
  await page.evaluate((size) => new Promise((done) => {
    const socket = new WebSocket(location.href.replace('http', 'ws'));
    socket.onopen = () => socket.send(new Uint8Array(size));
    // Until the server's last frame has arrived.
    socket.onmessage = () => socket.close();
    socket.onclose = done;
  }), ${BIG_BYTES});
});
test('cached', async ({ page }) => {
  await page.goto(big('cached').replace('big', 'cacheable'));
  for (const _ of [1, 2, 3]) await page.evaluate(fetched, 'cacheable');
});
test('routed', async ({ page }) => {
  await page.route('**/big', (route) => route.fulfill({ contentType: 'text/html', body: '<link rel="icon" href="data:,">'.padEnd(${BIG_BYTES}, 'x') }));
  await page.goto(big('routed'));
});`;

/** How often each test's pages load `BIG_BYTES`; null: it does not use a browser. */
const LOADS: Record<string, number | null> = {
  first: 2,
  idle: null,
  second: 3,
  contexts: 4,
  after: 1,
  worker: 2,
  socket: 3,
  cached: 1,
  routed: 0,
};

async function attachmentsOf(run: SuiteRun) {
  const tests = await run.tests();
  return Object.fromEntries(tests.map(({ title, results }) => [title, hostedAttachments(results.at(-1))[0]]));
}

test("metering › counts the bytes of each test's own pages", { tag: ['@versions', '@slow'] }, async ({
  runSuite,
  service,
  page,
}) => {
  const site = await startCountingSite();
  try {
    const run = await runSuite({
      options: `{ exposeNetwork: '' }`,
      tests: SUITE,
      args: ['--workers=1'],
      env: { SITE_URL: site.url },
    });

    const attachments = await attachmentsOf(run);
    expect(Object.keys(attachments)).toEqual(expect.arrayContaining(Object.keys(LOADS)));
    for (const [title, loads] of Object.entries(LOADS)) {
      const attachment = attachments[title];
      if (loads === null) {
        expect(attachment, title).toBeUndefined();
        continue;
      }
      // This service has no figure while a session runs.
      expect(attachment, title).toMatchObject({ bandwidthBytes: null });
      const moved = site.moved(title);
      expect(moved, title).toBeGreaterThanOrEqual(loads * BIG_BYTES);
      expect(moved, title).toBeLessThan((loads + 0.1) * BIG_BYTES);
      // The site also counts a WebSocket's request.
      expect(Math.abs(Number(attachment?.observedBytes) - moved), title).toBeLessThan(0.01 * moved + 1);
    }

    const { sessions } = await run.record();
    expect(sessions).toHaveLength(1);
    const [{ sessionId = '', observedBytes = 0, bandwidthBytes = null } = {}] = sessions;
    expect(bandwidthBytes).toBe((await service.client.getSession(sessionId)).bandwidthBytes);
    expect(observedBytes / Number(bandwidthBytes)).toBeGreaterThan(0.95);
    expect(observedBytes).toBeLessThanOrEqual(Number(bandwidthBytes));

    // Both figures are shown side by side, for the run and for the session.
    const said = `${bytes(Number(bandwidthBytes))} by the service, ${bytes(observedBytes)} observed in the tests' pages`;
    expect(run.output).toContain(`  used      ${said}`);
    await page.goto(pathToFileURL(`${run.consumer.directory}/test-results/poolwright/timeline.html`).href);
    await expect(page.getByText(said)).toBeVisible();
    await page.getByRole('button', { name: `session ${sessionId}` }).focus();
    const details = page.getByRole('tooltip');
    await expect(details.getByText('Service', { exact: true }).locator('+ *')).toHaveText(
      bytes(Number(bandwidthBytes)),
    );
    await expect(details.getByText('Observed', { exact: true }).locator('+ *')).toHaveText(bytes(observedBytes));
  } finally {
    await site.close();
  }
});

test('metering › counts what each test moves through this machine, and shows it first', async ({ runSuite, page }) => {
  const site = await startCountingSite();
  try {
    const run = await runSuite({
      options: `{ budget: { bandwidthMB: 1, proxiedMB: 1 } }`,
      tests: SUITE,
      args: ['--workers=1'],
      env: { SITE_URL: site.url },
      code: 1,
    });

    const { sessions } = await run.record();
    const [{ sessionId, tests = [], bridgedBytes = 0 } = {}] = sessions;
    const attachments = await attachmentsOf(run);
    for (const [title, loads] of Object.entries(LOADS)) {
      if (loads === null) continue;
      const { sent, received } = site.traffic(title);
      const moved = { observedBytes: 0, proxiedBytes: sent + received, proxiedSentBytes: sent };
      expect(attachments[title], title).toMatchObject(moved);
      expect(tests.find((test) => test.title.endsWith(title))).toMatchObject(moved);
      // Proxied responses are not cached.
      expect(received, title).toBeGreaterThanOrEqual((title === 'socket' ? 2 : loads) * BIG_BYTES);
    }
    expect(bridgedBytes).toBe(tests.reduce((sum, { proxiedBytes }) => sum + (proxiedBytes ?? 0), 0));

    const said = `${bytes(bridgedBytes)} through the test machine`;
    expect(run.output).toMatch(new RegExp(`^ {2}used {6}${said}(;|\\n)`, 'm'));
    expect(run.output).toMatch(/ {2}heaviest +1\.6 MB {2}a\.spec\.ts:\d+ › (contexts|cached)\n/);
    expect(run.output).toMatch(/budget exceeded: proxiedMB is limited to 1, but the run used [\d.]+ MB\n/);

    await page.goto(pathToFileURL(`${run.consumer.directory}/test-results/poolwright/timeline.html`).href);
    await expect(page.getByText(said)).toBeVisible();
    await expect(page.getByRole('img', { name: /^proxied bandwidth, at most .* per second$/ })).toBeVisible();
    const details = page.getByRole('tooltip');
    const shown = (term: string) => details.getByText(term, { exact: true }).locator('+ *');
    await page.getByRole('button', { name: `session ${sessionId}` }).focus();
    await expect(shown('Proxied')).toHaveText(bytes(bridgedBytes));
    const { sent, received } = site.traffic('after');
    await page.getByRole('button', { name: 'after: passed' }).focus();
    await expect(shown('Proxied')).toHaveText(`${bytes(sent + received)}, ${bytes(sent)} of them sent`);
    await expect(shown('Observed')).toHaveText('0 B');
  } finally {
    await site.close();
  }
});

const THREE = `for (const n of [1, 2, 3]) test('test ' + n, async ({ page }) => { await page.goto('/'); });`;

test("metering › puts the running session's figure into attachments, and the final one into the record", async ({
  runSuite,
  service,
}) => {
  const proxy = await startFigureProxy(service.emulator.baseURL, (asked) => asked * 1_000);
  try {
    const run = await runSuite({
      options: `{ exposeNetwork: '' }`,
      tests: THREE,
      args: ['--workers=1'],
      env: { POOLWRIGHT_BASE_URL: proxy.url },
    });
    const figures = Object.values(await attachmentsOf(run)).map((attachment) => attachment?.bandwidthBytes);
    expect(figures).toEqual([1_000, 2_000, 3_000]);
    const [session] = (await run.record()).sessions;
    expect(session?.bandwidthBytes).toBeGreaterThanOrEqual(session?.observedBytes ?? Number.NaN);
  } finally {
    await proxy.close();
  }
});

test('metering › asks a service without figures once per session', { tag: '@slow' }, async ({
  runSuite,
  service,
  page,
}) => {
  const proxy = await startFigureProxy(service.emulator.baseURL, null);
  try {
    const run = await runSuite({
      tests: THREE,
      args: ['--workers=1'],
      env: { POOLWRIGHT_BASE_URL: proxy.url },
    });
    for (const attachment of Object.values(await attachmentsOf(run))) {
      expect(attachment).toMatchObject({ bandwidthBytes: null, observedBytes: 0 });
    }
    expect(proxy.asked()).toBe(1);
    const [session] = (await run.record()).sessions;
    expect(session?.bandwidthBytes).toBeNull();
    const ended = await service.client.getSession(session?.sessionId ?? '');
    expect(ended.bandwidthBytes).toBe(0);
    const bridged = session?.bridgedBytes ?? 0;
    expect(bridged / (3 * ASSET_BYTES)).toBeGreaterThan(1);
    expect(bridged / (3 * ASSET_BYTES)).toBeLessThan(1.1);
    expect(run.output).toContain(`  used      ${bytes(bridged)} through the test machine`);
    await page.goto(pathToFileURL(`${run.consumer.directory}/test-results/poolwright/timeline.html`).href);
    await page.getByRole('button', { name: `session ${session?.sessionId}` }).focus();
    await expect(page.getByRole('tooltip')).toContainText(/Service\s*no figure/);
    await expect(page.getByText('Proxied', { exact: true }).locator('+ *')).toHaveText(bytes(bridged));
  } finally {
    await proxy.close();
  }
});
