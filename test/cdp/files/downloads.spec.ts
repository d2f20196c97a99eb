import { createHash, randomFillSync } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type CDPSession, chromium, type Download, type Page } from '@playwright/test';
import { test as base, type CdpFixtures, expect } from '../../support/cdp/fixtures.ts';
import { requires } from '../../support/requires.ts';

/** Downloads from a browser that has another disk. */

requires('unshare');

const BIG = randomFillSync(Buffer.alloc(30_000_001));

type Serve = CdpFixtures['serve'];
type Open = CdpFixtures['open'];

interface Fixtures {
  files: string;
  /** A page in a browser with its own disk. */
  page: Page;
}

const test = base.extend<Fixtures>({
  files: async ({}, use) => {
    const server = createServer((request, response) => {
      const name = request.url?.slice(1) ?? '';
      if (name === '') return response.setHeader('content-type', 'text/html').end('<title>files</title>');
      response.setHeader('content-disposition', `attachment; filename="${name}"`);
      if (name === 'empty') return response.end();
      if (name === 'big') return response.end(BIG);
      if (name === 'gzip.txt') return response.setHeader('content-encoding', 'gzip').end(gzipSync('ä'.repeat(5000)));
      if (name === 'endless') return response.write(Buffer.alloc(200_000));
      return response.end(`this is ${name}`);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    server.close();
    server.closeAllConnections();
  },
  page: async ({ cdpUrl, open, files }, use) => {
    const browser = await chromium.connectOverCDP(await open(cdpUrl));
    const page = await (await browser.newContext()).newPage();
    await page.goto(files);
    await use(page);
    await browser.close();
  },
});

async function download(page: Page, href: string, name = ''): Promise<Download> {
  const link = `Object.assign(document.createElement('a'), ${JSON.stringify({ href, download: name })}).click()`;
  const [started] = await Promise.all([page.waitForEvent('download'), page.evaluate(link)]);
  return started;
}

const text = async (started: Download) => await readFile(await started.path(), 'utf8');
const sha256 = (content: Buffer) => createHash('sha256').update(content).digest('hex');

test('downloads over HTTP, from blobs and data addresses, compressed and empty files', async ({ page }) => {
  expect(await text(await download(page, '/a.txt'))).toBe('this is a.txt');
  expect(await text(await download(page, '/gzip.txt'))).toBe('ä'.repeat(5000));
  const empty = await download(page, '/empty');
  expect(await text(empty)).toBe('');
  expect(await empty.failure()).toBe(null);
  const blob = String(await page.evaluate(`URL.createObjectURL(new Blob(['from a blob']))`));
  const fromBlob = await download(page, blob, 'blob.bin');
  expect(fromBlob.suggestedFilename()).toBe('blob.bin');
  expect(await text(fromBlob)).toBe('from a blob');
  expect(await text(await download(page, 'data:application/x-thing,from%20data', 'data.bin'))).toBe('from data');
});

test('saves a download, reads it as a stream, and deletes it', async ({ page, directory }) => {
  const started = await download(page, '/big');
  await started.saveAs(join(directory, 'saved'));
  expect(sha256(await readFile(join(directory, 'saved')))).toBe(sha256(BIG));
  const hash = createHash('sha256');
  for await (const chunk of await started.createReadStream()) hash.update(chunk);
  expect(hash.digest('hex')).toBe(sha256(BIG));
  const path = await started.path();
  await started.delete();
  expect(existsSync(path)).toBe(false);
});

test('handles several at the same time, in several contexts', async ({ page, files }) => {
  const another = await (await page.context().browser()?.newContext())?.newPage();
  await another?.goto(files);
  const pages = [page, another as Page];
  const started = [];
  for (const name of ['a', 'b', 'big', 'c']) for (const each of pages) started.push(await download(each, `/${name}`));
  const contents = await Promise.all(started.map(async (each) => await readFile(await each.path())));
  const expected = ['a', 'b', 'big', 'c'].flatMap((name) => {
    const content = name === 'big' ? BIG : Buffer.from(`this is ${name}`);
    return [sha256(content), sha256(content)];
  });
  expect(contents.map(sha256)).toEqual(expected);
});

test('copies a download when the hidden page that copied the last one has crashed', async ({ page }) => {
  expect(await text(await download(page, '/a'))).toBe('this is a');
  const session = (await page.context().browser()?.newBrowserCDPSession()) as CDPSession;
  const { browserContextIds } = await session.send('Target.getBrowserContexts');
  const { targetInfos } = await session.send('Target.getTargets');
  const isHidden = ({ url, browserContextId = '' }: { url: string; browserContextId?: string }) =>
    url === 'about:blank' && browserContextIds.includes(browserContextId);
  const { targetId = '' } = targetInfos.find(isHidden) ?? {};
  await session.send('Target.setDiscoverTargets', { discover: true });
  const crashed = new Promise((resolve) => session.once('Target.targetCrashed', resolve));
  const { sessionId } = await session.send('Target.attachToTarget', { targetId, flatten: false });
  const message = JSON.stringify({ id: 1, method: 'Page.crash' });
  await session.send('Target.sendMessageToTarget', { sessionId, message });
  await crashed;
  expect(await text(await download(page, '/b'))).toBe('this is b');
});

test('hides the transfer from tests and pages', async ({ page }) => {
  const browser = page.context().browser();
  const seen: string[] = [];
  for (const context of browser?.contexts() ?? []) context.on('page', (each) => seen.push(each.url()));
  await text(await download(page, '/a'));
  expect(seen).toEqual([]);
  expect(browser?.contexts().flatMap((context) => context.pages())).toEqual([page]);
});

test('cancels a download, but not the next one', async ({ page }) => {
  const endless = await download(page, '/endless');
  await endless.cancel();
  expect(await endless.failure()).toBe('canceled');
  expect(await text(await download(page, '/after'))).toBe('this is after');
});

test('leaves no files of an emulated browser on this disk', async ({ connectThrough, files }) => {
  const left = () => readdirSync('/tmp').filter((name) => /^poolwright-[0-9a-f-]{36}$/.test(name));
  const before = left();
  const { browser, transport } = await connectThrough();
  const page = await (await browser.newContext()).newPage();
  await page.goto(files);
  expect(await text(await download(page, '/a'))).toBe('this is a');
  await browser.close();
  await transport.closed;
  // Those of tests that run beside this one go, too.
  const made = left().filter((name) => !before.includes(name));
  await expect.poll(() => left().filter((name) => made.includes(name)), { timeout: 120_000 }).toEqual([]);
});

test('survives a connection that closes during a transfer', async ({ page }) => {
  const started = await download(page, '/big');
  const failure = started.failure().catch((error: Error) => error.message);
  await page.context().browser()?.close();
  expect(String(await failure)).toMatch(/cancel|closed/);
});

test.describe('an untrusted browser', () => {
  /** The result that Playwright reports for a download that the "browser" calls complete. */
  async function told(progress: object, { serve, open, directory }: { serve: Serve; open: Open; directory: string }) {
    const asked: { id: number; method: string; params: { downloadPath?: string } }[] = [];
    const server = await serve((link) => {
      link.on('message', (data) => {
        const command = JSON.parse(String(data));
        asked.push(command);
        const isOurs = command.method !== 'Browser.setDownloadBehavior';
        link.send(JSON.stringify({ id: command.id, ...(isOurs ? { error: { message: 'no' } } : { result: {} }) }));
        if (isOurs) return;
        link.send(JSON.stringify({ method: 'Browser.downloadWillBegin', params: progress }));
        link.send(JSON.stringify({ method: 'Browser.downloadProgress', params: progress }));
      });
    });
    const transport = await open(server.cdpUrl);
    const event = new Promise<object>((resolve) => {
      transport.onmessage = (message) => {
        if ('method' in message && message.method === 'Browser.downloadProgress') resolve(message);
      };
    });
    const params = { behavior: 'allowAndName', downloadPath: directory, eventsEnabled: true };
    transport.send({ id: 1, method: 'Browser.setDownloadBehavior', params });
    return { event: await event, asked };
  }

  test('fails a download whose file cannot be fetched', async ({ serve, open, directory }) => {
    const progress = { guid: 'a-b', state: 'completed', receivedBytes: 5 };
    const { event, asked } = await told(progress, { serve, open, directory });
    expect(event).toMatchObject({ params: { guid: 'a-b', state: 'canceled' } });
    expect(asked[0]?.params.downloadPath).toMatch(/^\/tmp\/poolwright-/);
    expect(asked[1]?.method).toBe('Target.createBrowserContext');
  });

  for (const guid of ['../evil', '/etc/evil', '..', '']) {
    test(`does not write a file whose name leads elsewhere: "${guid}"`, async ({ serve, open, directory }) => {
      const progress = { guid, state: 'completed', receivedBytes: 5 };
      const { event, asked } = await told(progress, { serve, open, directory });
      expect(event).toMatchObject({ params: progress });
      expect(asked).toHaveLength(1);
    });
  }
});
