import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { ElementHandle, Page } from 'puppeteer-core';
import { test as base, expect } from '../../support/cdp/puppeteer.ts';
import { requires } from '../../support/requires.ts';

/** Files between this machine and a browser that has another disk, with Puppeteer. */

requires('unshare');

const test = base.extend<{ files: string }>({
  files: async ({}, use) => {
    const server = createServer((request, response) => {
      const name = decodeURIComponent(request.url?.slice(1) ?? '');
      if (name === '') return response.setHeader('content-type', 'text/html').end('<input type="file" multiple>');
      response.setHeader('content-disposition', `attachment; filename*=UTF-8''${encodeURIComponent(name)}`);
      return response.end(name === 'big.bin' ? Buffer.alloc(5_000_000, 7) : `this is ${name}`);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    server.close();
    server.closeAllConnections();
  },
});

async function click(page: Page, href: string): Promise<void> {
  await page.evaluate(`Object.assign(document.createElement('a'), ${JSON.stringify({ href })}).click()`);
}

test('saves complete downloads of a context in its directory, with their names', async ({
  cdpUrl,
  connectPuppeteer,
  files,
  directory,
}) => {
  const browser = await connectPuppeteer(cdpUrl);
  const context = await browser.createBrowserContext({
    downloadBehavior: { policy: 'allow', downloadPath: directory },
  });
  const page = await context.newPage();
  await page.goto(files);
  await click(page, '/report.txt');
  await expect.poll(() => readdirSync(directory)).toEqual(['report.txt']);
  expect(await readFile(join(directory, 'report.txt'), 'utf8')).toBe('this is report.txt');
  await click(page, '/report.txt');
  await expect.poll(() => readdirSync(directory).sort()).toEqual(['report (1).txt', 'report.txt']);
  await click(page, '/big.bin');
  await expect.poll(() => existsSync(join(directory, 'big.bin'))).toBe(true);
  // Never half of it: the file appears when it is complete.
  expect((await readFile(join(directory, 'big.bin'))).length).toBe(5_000_000);
  // The helper page that fetches files is hidden.
  expect(await browser.pages()).toHaveLength(1);
  expect(browser.browserContexts()).toHaveLength(2);
});

test('supports a download directory per page, as in older scripts, and rejects names that lead elsewhere', async ({
  cdpUrl,
  connectPuppeteer,
  files,
  directory,
}) => {
  const browser = await connectPuppeteer(cdpUrl);
  const page = await browser.newPage();
  const session = await page.createCDPSession();
  await session.send('Page.setDownloadBehavior', { behavior: 'allow', downloadPath: directory });
  await page.goto(files);
  await click(page, '/..%2F..%2Foutside.txt');
  // Until it is complete, Chromium uses another name.
  await expect.poll(() => readdirSync(directory).join()).toMatch(/^[^,]*outside\.txt$/);
  await click(page, '/Bericht%20%C3%BC.txt');
  await expect.poll(() => readdirSync(directory)).toContain('Bericht ü.txt');
});

test('refers to the local file in download events, where they are enabled', async ({
  cdpUrl,
  connectPuppeteer,
  files,
  directory,
}) => {
  const browser = await connectPuppeteer(cdpUrl);
  const page = await browser.newPage();
  const session = await browser.target().createCDPSession();
  await session.send('Browser.setDownloadBehavior', {
    behavior: 'allowAndName',
    downloadPath: directory,
    eventsEnabled: true,
  });
  const completed = new Promise<string>((resolve) => {
    session.on('Browser.downloadProgress', ({ guid, state }) => state === 'completed' && resolve(guid));
  });
  await page.goto(files);
  await click(page, '/named.txt');
  const guid = await completed;
  expect(await readFile(join(directory, guid), 'utf8')).toBe('this is named.txt');
});

test('uploads a directory to the page', async ({ cdpUrl, connectPuppeteer, files, directory }) => {
  await mkdir(join(directory, 'up', 'below'), { recursive: true });
  await writeFile(join(directory, 'up', 'one.txt'), 'one');
  await writeFile(join(directory, 'up', 'below', 'zwei ü.json'), '{"two":2}');
  const browser = await connectPuppeteer(cdpUrl);
  const page = await browser.newPage();
  await page.goto(files);
  await page.evaluate(`Object.assign(document.querySelector('input'), { webkitdirectory: true })`);
  const input = (await page.$('input')) as unknown as ElementHandle<never> & {
    uploadFile(...paths: string[]): Promise<void>;
  };
  await input.uploadFile(join(directory, 'up'));
  const seen = () =>
    page.evaluate(`[...document.querySelector('input').files].map((file) => file.webkitRelativePath).sort()`);
  await expect.poll(seen).toEqual(['up/below/zwei ü.json', 'up/one.txt']);
  expect(await browser.pages()).toHaveLength(1);
});

test('uploads files to the page', async ({ cdpUrl, connectPuppeteer, files, directory }) => {
  await writeFile(join(directory, 'one.txt'), 'one');
  await writeFile(join(directory, 'zwei ü.json'), '{"two":2}');
  const browser = await connectPuppeteer(cdpUrl);
  const page = await browser.newPage();
  await page.goto(files);
  const input = (await page.$('input')) as unknown as ElementHandle<never> & {
    uploadFile(...paths: string[]): Promise<void>;
  };
  await input.uploadFile(join(directory, 'one.txt'), join(directory, 'zwei ü.json'));
  const seen = await input.evaluate(
    `(async (input) => Promise.all([...input.files].map(async (f) => [f.name, f.type, await f.text()])))(document.querySelector('input'))`,
  );
  expect(seen).toEqual([
    ['one.txt', 'text/plain', 'one'],
    ['zwei ü.json', 'application/json', '{"two":2}'],
  ]);
});
