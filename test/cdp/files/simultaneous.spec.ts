import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type Browser, type BrowserContext, chromium, type Download, type Page } from '@playwright/test';
import fc from 'fast-check';
import type { TransportOptions } from '../../../src/cdp/pipeline.ts';
import { parseNetworkRules } from '../../../src/options/network-rules.ts';
import { test as autoTest } from '../../support/cdp/auto-fixtures.ts';
import { expect, LISTED, test as listedTest } from '../../support/cdp/proxy-fixtures.ts';
import { test as puppeteerTest } from '../../support/cdp/puppeteer.ts';
import { fullLength, propertyRuns, slowIf } from '../../support/property-runs.ts';

/** Downloads, pages and popups of a local server, several at once: the same as in a local browser. */

/** Time limit for a download or a page, in ms. */
const ARRIVES_MS = 30_000;
/** How many histories; each takes a few seconds. */
const RUNS = propertyRuns(25, 3);

interface LocalServer {
  port: number;
  close(): void;
}

const PAGE = '<!doctype html><link rel=icon href=data:,><title>page</title><p>text</p>';
const TYPES: Record<string, string> = { csv: 'text/csv', pdf: 'application/pdf', zip: 'application/zip' };

async function startServer(): Promise<LocalServer> {
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost');
    const [, isFile, name = '', extension = ''] = /^\/(files\/)?(\w+)\.?(\w*)$/.exec(pathname) ?? [];
    if (isFile === undefined) return response.setHeader('content-type', 'text/html').end(PAGE.replace('text', name));
    response.setHeader('content-type', TYPES[extension] ?? 'application/octet-stream');
    response.setHeader('content-disposition', `attachment; filename="${name}.${extension}"`);
    return response.end(Buffer.alloc(Number(searchParams.get('bytes') ?? 9), name));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { port: (server.address() as AddressInfo).port, close };
}

/** How a page begins a download or opens a page, as code with `url`. */
const WAYS = {
  link: `Object.assign(document.createElement('a'), { href: url, download: '' }).click()`,
  frame: `document.body.append(Object.assign(document.createElement('iframe'), { src: url }))`,
  'new tab': `Object.assign(document.createElement('a'), { href: url, target: '_blank' }).click()`,
  'new tab with opener': `Object.assign(document.createElement('a'), { href: url, target: '_blank', rel: 'opener' }).click()`,
  'window.open': `void window.open(url)`,
  'window.open without opener': `void window.open(url, '_blank', 'noopener')`,
};
type Way = keyof typeof WAYS;
const ways = Object.keys(WAYS) as Way[];

const codeOf = (way: Way, url: string) => `{ const url = ${JSON.stringify(url)}; ${WAYS[way]}; }`;

/** The downloads of a context, in whichever page they are reported. */
function downloadsOf(context: BrowserContext): Download[] {
  const found: Download[] = [];
  const listen = (page: Page) => page.on('download', (download) => found.push(download));
  for (const page of context.pages()) listen(page);
  context.on('page', listen);
  return found;
}

/** What arrived, in the order of the names. */
async function arrived(downloads: Download[]): Promise<unknown[]> {
  const files = downloads.map(async (download) => {
    const failure = await download.failure();
    const content = failure === null ? await readFile(await download.path()) : Buffer.alloc(0);
    const digest = createHash('sha256').update(content).digest('hex');
    return [download.suggestedFilename(), failure, content.length, digest] as const;
  });
  return (await Promise.all(files)).sort(([one], [other]) => one.localeCompare(other));
}

/** Clicks the links of a page in one task; returns what arrives. */
async function clicked(page: Page, steps: readonly [Way, string][]): Promise<unknown[]> {
  const downloads = downloadsOf(page.context());
  await page.evaluate(steps.map(([way, url]) => codeOf(way, url)).join('\n'));
  await expect.poll(() => downloads.length, { timeout: ARRIVES_MS }).toBe(steps.length);
  return await arrived(downloads);
}

/** Runs the same in a local browser and in another one. */
async function asLocal<T>(
  near: Browser,
  browser: Browser,
  run: (browser: Browser, isLocal: boolean) => Promise<T>,
): Promise<void> {
  const local = await run(near, true);
  assert.deepEqual(await run(browser, false), local);
}

const LINKS = Array.from({ length: 8 }, (_, n) => ['link', `/files/f${n}.csv`] as [Way, string]);
/** `npm test` has each type, and each way to open a tab, but not each pair of them. */
const TABS = Object.keys(TYPES).flatMap((type, at) =>
  (['new tab', 'window.open without opener', 'new tab with opener', 'window.open'] as const)
    .map((way, n) => [way, `/files/tab${n}.${type}`] as [Way, string])
    .filter((_, n) => fullLength(true, at === 0 || at === n)),
);

/** Every group of downloads, one group after the other. */
async function groups(browser: Browser, url: string, all: readonly [Way, string][][]): Promise<unknown[]> {
  const found: unknown[] = [];
  for (const steps of all) {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(url);
    found.push(await clicked(page, steps));
    await context.close();
  }
  return found;
}

const test = listedTest.extend<{
  server: LocalServer;
  connectFar: (options?: Partial<TransportOptions>) => Promise<Browser>;
}>({
  server: async ({}, use) => {
    const server = await startServer();
    await use(server);
    server.close();
  },
  connectFar: async ({ farChromium, open }, use) => {
    const browsers: Browser[] = [];
    await use(async (options = {}) => {
      const rules = { proxiedHosts: parseNetworkRules(LISTED) };
      const browser = await chromium.connectOverCDP(await open(farChromium.cdpUrl, { ...rules, ...options }));
      browsers.push(browser);
      return browser;
    });
    for (const browser of browsers) await browser.close();
  },
});

test('downloads of links clicked in one task all arrive, and so does each new tab that becomes a download', async ({
  connectFar,
  server: { port },
  near,
}) => {
  test.setTimeout(240_000);
  await asLocal(near, await connectFar(), async (browser, isLocal) => {
    const host = isLocal ? '127.0.0.1' : LISTED;
    return await groups(browser, `http://${host}:${port}/page`, [LINKS, ...TABS.map((step) => [step])]);
  });
});

autoTest('the same for a server that the test visits', slowIf(true), async ({ newContext, near }) => {
  autoTest.setTimeout(240_000);
  const server = await startServer();
  const browser = (await newContext()).browser() as Browser;
  await asLocal(near, browser, async (each) => {
    const tabs = TABS.filter(([way]) => !/with opener|open$/.test(way));
    return await groups(each, `http://localhost:${server.port}/page`, [LINKS, ...tabs.map((step) => [step])]);
  });
  server.close();
});

for (const network of ['listed', 'auto'] as const) {
  puppeteerTest(
    `the same with Puppeteer, ${network}`,
    slowIf(network === 'auto'),
    async ({ connectPuppeteer, browserUrl, directory }) => {
      const server = await startServer();
      const browser = await connectPuppeteer(await browserUrl(false), {
        ...(network === 'auto'
          ? { auto: { onVisit: () => undefined } }
          : { proxiedHosts: parseNetworkRules('<loopback>') }),
      });
      const context = await browser.createBrowserContext({
        downloadBehavior: { policy: 'allow', downloadPath: directory },
      });
      const page = await context.newPage();
      await page.goto(`http://127.0.0.1:${server.port}/page`);
      const steps = [...LINKS, ...TABS.slice(0, 4)];
      await page.evaluate(steps.map(([way, url]) => codeOf(way, url)).join('\n'));
      const paths = steps.map(([, url]) => join(directory, url.slice('/files/'.length)));
      const missing = () => paths.filter((path) => !existsSync(path));
      await expect.poll(missing, { timeout: ARRIVES_MS }).toEqual([]);
      server.close();
    },
  );
}

/** One thing that a test does; all of a history are done at once. */
type Act =
  | { does: 'download'; page: number; way: Way; type: string; bytes: number }
  | { does: 'opens'; page: number; way: Exclude<Way, 'link' | 'frame'> }
  | { does: 'visits'; inContext: 'the same' | 'a new one'; frames: number };

const histories = fc.array(
  fc.oneof(
    fc.record({
      does: fc.constant('download' as const),
      page: fc.nat(1),
      way: fc.constantFrom(...ways),
      type: fc.constantFrom(...Object.keys(TYPES)),
      bytes: fc.constantFrom(0, 9, 300_000),
    }),
    fc.record({
      does: fc.constant('opens' as const),
      page: fc.nat(1),
      way: fc.constantFrom(...(ways.slice(2) as Exclude<Way, 'link' | 'frame'>[])),
    }),
    fc.record({
      does: fc.constant('visits' as const),
      inContext: fc.constantFrom('the same' as const, 'a new one' as const),
      frames: fc.nat(2),
    }),
  ),
  { minLength: 2, maxLength: 9 },
);

/** Title, text and frames of a page, as a test reads them. */
async function read(page: Page): Promise<unknown[]> {
  return [await page.title(), await page.locator('p').textContent(), page.frames().length];
}

/** The page of a context that shows an address. */
async function opened(context: BrowserContext, url: string): Promise<Page> {
  const found = () => context.pages().find((page) => page.url() === url);
  await expect.poll(() => found() !== undefined, { timeout: ARRIVES_MS }).toBe(true);
  return found() as Page;
}

/** Does everything at once, and returns what the test and the pages got. */
async function play(browser: Browser, origin: string, history: Act[]): Promise<unknown> {
  const context = await browser.newContext();
  const pages = [await context.newPage(), await context.newPage()];
  await Promise.all(pages.map(async (page) => await page.goto(`${origin}/page`)));
  const downloads = downloadsOf(context);
  const addresses = history.map((act, n) =>
    act.does === 'download' ? `${origin}/files/file${n}.${act.type}?bytes=${act.bytes}` : `${origin}/text${n}`,
  );
  const codes = pages.map((_, at) =>
    history
      .map((act, n) => (act.does !== 'visits' && act.page === at ? codeOf(act.way, addresses[n] as string) : ''))
      .join('\n'),
  );
  const visits = history.map(async (act, n) => {
    if (act.does === 'download') return null;
    if (act.does === 'opens') return await read(await opened(context, addresses[n] as string));
    const other = act.inContext === 'the same' ? context : await browser.newContext();
    const page = await other.newPage();
    await page.goto(addresses[n] as string);
    const frames = Array.from({ length: act.frames }, () => codeOf('frame', `${origin}/framed`)).join('\n');
    await page.evaluate(frames);
    await expect.poll(() => page.frames().length, { timeout: ARRIVES_MS }).toBe(act.frames + 1);
    const seen = await read(page);
    if (other !== context) await other.close();
    return seen;
  });
  const [read1] = await Promise.all([
    Promise.all(visits),
    ...pages.map((page, at) => page.evaluate(codes[at] as string)),
  ]);
  const expected = history.filter(({ does }) => does === 'download').length;
  await expect.poll(() => downloads.length, { timeout: ARRIVES_MS }).toBe(expected);
  const files = await arrived(downloads);
  await context.close();
  return { read: read1, files };
}

for (const ahead of [false, true]) {
  test(
    `random downloads, pages, popups and contexts at once do the same as in a local browser, ${ahead ? 'with' : 'without'} ahead`,
    slowIf(!ahead),
    async ({ connectFar, server: { port }, near }) => {
      test.setTimeout(120_000 + RUNS.numRuns * 30_000);
      const browser = await connectFar({ ahead });
      await fc.assert(
        fc.asyncProperty(histories, async (history) => {
          const seen = await play(browser, `http://${LISTED}:${port}`, history);
          assert.deepEqual(seen, await play(near, `http://127.0.0.1:${port}`, history));
        }),
        { ...RUNS, interruptAfterTimeLimit: 60_000 + RUNS.numRuns * 20_000 },
      );
    },
  );
}
