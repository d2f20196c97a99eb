import { pathToFileURL } from 'node:url';
import { runRecord } from '../../../src/record/run-record.ts';
import { bytes } from '../../../src/report/summary/format.ts';
import type { Consumer } from '../../support/e2e/consumer.ts';
import { BIG_BYTES, startCountingSite } from '../../support/e2e/counting-site.ts';
import { startFigureProxy } from '../../support/e2e/figure-proxy.ts';
import { expect, test } from '../../support/e2e/fixtures.ts';
import { hostedAttachments, reportedTests, runPlaywright } from '../../support/e2e/run-playwright.ts';
import { ASSET_BYTES } from '../../support/e2e/site.ts';
import { suite, wrappedConfig } from '../../support/e2e/suites.ts';

/** Which bytes belong to which test, and the service's figures of a session. */

const SUITE = suite(`
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
    socket.onmessage = done;
  }), ${BIG_BYTES});
});
test('cached', async ({ page }) => {
  await page.goto(big('cached').replace('big', 'cacheable'));
  for (const _ of [1, 2, 3]) await page.evaluate(fetched, 'cacheable');
});
test('routed', async ({ page }) => {
  await page.route('**/big', (route) => route.fulfill({ contentType: 'text/html', body: '<link rel="icon" href="data:,">'.padEnd(${BIG_BYTES}, 'x') }));
  await page.goto(big('routed'));
});`);

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

async function attachmentsOf(consumer: Consumer) {
  const tests = await reportedTests(consumer);
  return Object.fromEntries(tests.map(({ title, results }) => [title, hostedAttachments(results.at(-1))[0]]));
}

async function recordOf(consumer: Consumer) {
  return runRecord.parse(JSON.parse(await consumer.read('test-results/poolwright/run.json')));
}

test("counts the bytes of each test's own pages, which sum up to the session's", { tag: '@versions' }, async ({
  newConsumer,
  service,
  page,
}) => {
  const site = await startCountingSite();
  try {
    const consumer = await newConsumer();
    await consumer.write({
      'playwright.config.ts': wrappedConfig(`{ exposeNetwork: '' }`),
      'tests/a.spec.ts': SUITE,
    });
    const run = await runPlaywright(consumer, ['--workers=1'], { ...service.env, SITE_URL: site.url });
    expect(run.code, run.output).toBe(0);

    const attachments = await attachmentsOf(consumer);
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

    const { sessions } = await recordOf(consumer);
    expect(sessions).toHaveLength(1);
    const [{ sessionId = '', observedBytes = 0, bandwidthBytes = null } = {}] = sessions;
    expect(bandwidthBytes).toBe((await service.client.getSession(sessionId)).bandwidthBytes);
    expect(observedBytes / Number(bandwidthBytes)).toBeGreaterThan(0.95);
    expect(observedBytes).toBeLessThanOrEqual(Number(bandwidthBytes));

    // Both figures are shown side by side, for the run and for the session.
    const said = `${bytes(Number(bandwidthBytes))} by the service, ${bytes(observedBytes)} observed in the tests' pages`;
    expect(run.output).toContain(`  bandwidth ${said}\n`);
    await page.goto(pathToFileURL(`${consumer.folder}/test-results/poolwright/timeline.html`).href);
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

const THREE = suite(`for (const n of [1, 2, 3]) test('test ' + n, async ({ page }) => { await page.goto('/'); });`);

test("takes the running session's figure into attachments, and the final one into the record", async ({
  newConsumer,
  service,
  site,
}) => {
  const proxy = await startFigureProxy(service.emulator.baseURL, (asked) => asked * 1_000);
  try {
    const consumer = await newConsumer();
    await consumer.write({ 'playwright.config.ts': wrappedConfig(`{ exposeNetwork: '' }`), 'tests/a.spec.ts': THREE });
    const env = { ...service.env, POOLWRIGHT_BASE_URL: proxy.url, SITE_URL: site.url };
    const run = await runPlaywright(consumer, ['--workers=1'], env);
    expect(run.code, run.output).toBe(0);
    const figures = Object.values(await attachmentsOf(consumer)).map((attachment) => attachment?.bandwidthBytes);
    expect(figures).toEqual([1_000, 2_000, 3_000]);
    const [session] = (await recordOf(consumer)).sessions;
    expect(session?.bandwidthBytes).toBeGreaterThanOrEqual(session?.observedBytes ?? Number.NaN);
  } finally {
    await proxy.close();
  }
});

test('asks a service without figures once per session, and keeps bytes through exposeNetwork separate', async ({
  newConsumer,
  service,
  site,
  page,
}) => {
  const proxy = await startFigureProxy(service.emulator.baseURL, null);
  try {
    const consumer = await newConsumer();
    await consumer.write({ 'playwright.config.ts': wrappedConfig(), 'tests/a.spec.ts': THREE });
    const env = { ...service.env, POOLWRIGHT_BASE_URL: proxy.url, SITE_URL: site.url };
    const run = await runPlaywright(consumer, ['--workers=1'], env);
    expect(run.code, run.output).toBe(0);
    for (const attachment of Object.values(await attachmentsOf(consumer))) {
      expect(attachment).toMatchObject({ bandwidthBytes: null, observedBytes: 0 });
    }
    expect(proxy.asked()).toBe(1);
    const [session] = (await recordOf(consumer)).sessions;
    expect(session?.bandwidthBytes).toBeNull();
    const ended = await service.client.getSession(session?.sessionId ?? '');
    expect(ended.bandwidthBytes).toBe(0);
    const bridged = session?.bridgedBytes ?? 0;
    expect(bridged / (3 * ASSET_BYTES)).toBeGreaterThan(1);
    expect(bridged / (3 * ASSET_BYTES)).toBeLessThan(1.1);
    expect(run.output).toContain(
      `  bandwidth 0 B observed in the tests' pages (no figure from the service); ${bytes(bridged)} through the test machine\n`,
    );
    await page.goto(pathToFileURL(`${consumer.folder}/test-results/poolwright/timeline.html`).href);
    await page.getByRole('button', { name: `session ${session?.sessionId}` }).focus();
    await expect(page.getByRole('tooltip')).toContainText(/Service\s*no figure/);
    await expect(page.getByText('Through exposeNetwork', { exact: true }).locator('+ *')).toHaveText(bytes(bridged));
  } finally {
    await proxy.close();
  }
});
