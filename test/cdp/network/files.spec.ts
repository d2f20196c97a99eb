import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type BrowserContext, chromium } from '@playwright/test';
import { type Exposure, parseExposure } from '../../../src/options/expose-network.ts';
import { type DevServer, startDevServer } from '../../support/cdp/dev-server.ts';
import { test as base, expect } from '../../support/cdp/fixtures.ts';
import { requires } from '../../support/requires.ts';

/** `file:` pages of this machine, in a browser with another disk. */

requires('unshare');

interface Fixtures {
  /** A directory of this machine that the browser does not have. */
  root: string;
  dev: DevServer;
  newContext: (exposure?: string) => Promise<BrowserContext>;
}

const PIXEL = '<svg xmlns="http://www.w3.org/2000/svg" width="7" height="7"/>';
const FILES: Record<string, string> = {
  'fixtures/page.html': `<!doctype html><meta charset=utf-8><link rel=stylesheet href="style.css"><h1>Ünï</h1>
    <script src="sub/app.js"></script><img src="a%20b%20%C3%BC%23.svg"><iframe src="frame.html#part"></iframe>
    <a href="next.html?query#hash">next</a>`,
  'fixtures/style.css': 'h1 { color: rgb(1, 2, 3); background: url(a%20b%20%C3%BC%23.svg) }',
  'fixtures/sub/app.js': 'window.app = "loaded"',
  'fixtures/a b ü#.svg': PIXEL,
  'fixtures/frame.html': 'framed',
  'fixtures/next.html': '<h2>next</h2>',
  'fixtures/no-type': '<!doctype html><h2>seen by its content</h2>',
  'fixtures/outside.html': '<script src="../secret.js"></script><iframe src="../secret.html"></iframe>',
  'secret.js': 'window.secret = "read"',
  'secret.html': 'secret',
};

const test = base.extend<Fixtures>({
  root: async ({}, use) => {
    const root = await mkdtemp(join(tmpdir(), 'poolwright-files-'));
    for (const [name, content] of Object.entries(FILES)) {
      await mkdir(join(root, name, '..'), { recursive: true });
      await writeFile(join(root, name), content);
    }
    await symlink(join(root, 'fixtures/page.html'), join(root, 'fixtures/linked.html'));
    await symlink(join(root, 'fixtures'), join(root, 'linked'));
    await use(root);
    await rm(root, { recursive: true });
  },
  dev: async ({}, use) => {
    const server = await startDevServer();
    await use(server);
    await server.close();
  },
  newContext: async ({ start, open }, use) => {
    const { api } = await start();
    await use(async (text = 'auto') => {
      const { hosts, auto }: Exposure = parseExposure(text);
      const options = {
        ...(hosts && { proxiedHosts: hosts }),
        ...(auto && { auto: { onVisit: () => undefined } }),
      };
      const transport = await open((await api.create()).body.cdpUrl, options);
      return await (await chromium.connectOverCDP(transport)).newContext();
    });
  },
});

const urlOf = (...path: string[]) => pathToFileURL(join(...path)).href;

test('loads a document with its style, script, image and frame; links, reload, history', async ({
  newContext,
  root,
}) => {
  const page = await (await newContext()).newPage();
  for (const name of ['page.html', 'linked.html']) {
    const response = await page.goto(urlOf(root, 'fixtures', name));
    expect([response?.status(), response?.ok()]).toEqual([200, true]);
    await expect(page.locator('h1')).toHaveText('Ünï');
    await expect(page.locator('h1')).toHaveCSS('color', 'rgb(1, 2, 3)');
    expect(await page.evaluate('window.app')).toBe('loaded');
    await expect(page.locator('img')).toHaveJSProperty('naturalWidth', 7);
    await expect(page.frameLocator('iframe').locator('body')).toHaveText('framed');
  }
  expect(await page.evaluate('[location.protocol, origin, document.URL.endsWith("/linked.html")]')).toEqual([
    'file:',
    'null',
    true,
  ]);
  await page.click('a');
  await expect(page.locator('h2')).toHaveText('next');
  expect(page.url()).toBe(`${urlOf(root, 'fixtures/next.html')}?query#hash`);
  await page.reload();
  await expect(page.locator('h2')).toHaveText('next');
  await page.goBack();
  await expect(page.locator('h1')).toBeVisible();
  await page.goto(`${urlOf(root, 'linked/page.html')}#part`);
  await expect(page.locator('h1')).toHaveCSS('color', 'rgb(1, 2, 3)');
  await page.goto(urlOf(root, 'fixtures/no-type'));
  await expect(page.locator('h2')).toHaveText('seen by its content');
});

test('refuses what a local browser refuses, and reports a missing file', async ({ newContext, root }) => {
  const page = await (await newContext()).newPage();
  await page.goto(urlOf(root, 'fixtures/page.html'));
  expect(await page.evaluate(`fetch('style.css').catch((error) => error.message)`)).toBe('Failed to fetch');
  expect(
    await page.evaluate(`new Promise((resolve) => {
      const script = document.createElement('script');
      script.type = 'module';
      script.onload = script.onerror = ({ type }) => resolve(type);
      script.src = 'sub/app.js';
      document.body.append(script);
    })`),
  ).toBe('error');
  expect(
    await page.evaluate(`new Promise((resolve) => {
      const request = new XMLHttpRequest();
      request.onloadend = () => resolve(request.responseText);
      request.open('GET', 'style.css');
      request.send();
    })`),
  ).toBe('');
  const failed = page.waitForEvent('requestfailed', (request) => request.url().endsWith('/nothing.png'));
  await page.evaluate(`void (new Image().src = 'nothing.png')`);
  expect((await failed).failure()?.errorText).toBe('net::ERR_FILE_NOT_FOUND');
  await expect(page.goto(urlOf(root, 'fixtures/nothing.html'))).rejects.toThrow(
    `net::ERR_FILE_NOT_FOUND at ${urlOf(root, 'fixtures/nothing.html')}`,
  );
});

test('lists a directory', async ({ newContext, root }) => {
  const page = await (await newContext()).newPage();
  await page.goto(`${urlOf(root, 'fixtures')}/`);
  await expect(page).toHaveTitle(/^Index of .*\/fixtures\/$/);
  await page.getByText('a b ü#.svg').click();
  expect(page.url()).toBe(urlOf(root, 'fixtures/a b ü#.svg'));
});

test('exposes nothing outside the directory that the test navigated to, unless it is listed', async ({
  newContext,
  root,
}) => {
  const page = await (await newContext()).newPage();
  await page.goto(urlOf(root, 'fixtures/outside.html'));
  expect(await page.evaluate('window.secret')).toBeUndefined();
  const [frame] = page.frames().slice(1);
  expect(await frame?.content()).not.toContain('secret');
  for (const path of ['fixtures/%2e%2e/secret.html', 'fixtures/..%2fsecret.html', 'fixtures//../../secret.html']) {
    await page.evaluate(`new Promise((resolve) => {
      const frame = document.createElement('iframe');
      frame.onload = resolve;
      frame.src = ${JSON.stringify(`${urlOf(root)}/${path}`)};
      document.body.append(frame);
    })`);
  }
  for (const each of page.frames().slice(1)) expect(await each.content()).not.toContain('secret');

  const all = await (await newContext('<files>')).newPage();
  await all.goto(urlOf(root, 'fixtures/outside.html'));
  expect(await all.evaluate('window.secret')).toBe('read');
  await expect(all.frameLocator('iframe').locator('body')).toHaveText('secret');
});

test('gives a page from the network no file, even if listed', async ({ newContext, root, dev }) => {
  for (const exposure of ['auto', '<files>,<loopback>', 'none']) {
    const context = await newContext(exposure);
    if (exposure !== 'none') await (await context.newPage()).goto(urlOf(root, 'fixtures/page.html'));
    else await expect((await context.newPage()).goto(urlOf(root, 'fixtures/page.html'))).rejects.toThrow('NOT_FOUND');
    if (exposure === 'none') continue;
    const page = await context.newPage();
    await page.goto(dev.url);
    const url = JSON.stringify(urlOf(root, 'fixtures/next.html'));
    expect(await page.evaluate(`fetch(${url}).then(() => 'read', (error) => error.message)`)).toBe('Failed to fetch');
    await page.evaluate(`new Promise((resolve) => {
      const frame = document.createElement('iframe');
      frame.src = ${url};
      document.body.append(frame);
      window.open(${url});
      const image = new Image();
      image.onload = image.onerror = resolve;
      image.src = ${JSON.stringify(urlOf(root, 'fixtures/a b ü#.svg'))};
    })`);
    const to = encodeURIComponent(urlOf(root, 'fixtures/next.html'));
    await expect(page.goto(`${dev.url}/redirect?to=${to}`)).rejects.toThrow('net::ERR_UNSAFE_REDIRECT');
    for (const frame of context.pages().flatMap((one) => one.frames())) {
      expect(await frame.content().catch(() => 'detached')).not.toContain('<h2>next</h2>');
    }
  }
});
