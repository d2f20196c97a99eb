import { createHash, randomFillSync } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, stat, symlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { chromium, type Page } from '@playwright/test';
import { expect, test } from '../../support/cdp/fixtures.ts';
import { test as proxyTest } from '../../support/cdp/proxy-fixtures.ts';
import { allOnFullChromium, localChromium } from '../../support/local-chromium.ts';
import { slowIf } from '../../support/property-runs.ts';
import { requires } from '../../support/requires.ts';

/** Uploads from this machine's disk to a browser that has another one. */

requires('unshare');

const INPUT = `
  document.body.innerHTML = '<input type=file multiple>';
  window.events = [];
  for (const type of ['input', 'change']) document.body.addEventListener(type, (event) => events.push(event.type));`;

/** What the page sees of the files in its input, and the events it got. */
async function shown(page: Page): Promise<unknown> {
  return await page.evaluate(`Promise.all([...document.querySelector('input').files].map(async (file) => {
    const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', await file.arrayBuffer()));
    const sha256 = [...digest].map((byte) => byte.toString(16).padStart(2, '0')).join('');
    return { name: file.name, size: file.size, type: file.type, lastModified: file.lastModified, sha256 };
  }))`);
}

/** Playwright's error for an action on a page that closes: on a busy machine, it may lose the frame before the page. */
const CLOSED = /closed|Frame has been detached/;

async function written(path: string, content: Buffer | string, type: string) {
  await writeFile(path, content);
  const { size, mtimeMs } = await stat(path);
  const sha256 = createHash('sha256').update(content).digest('hex');
  return { name: path.split('/').at(-1), size, type, lastModified: Math.floor(mtimeMs), sha256 };
}

test('uploads files of every size, several at the same time, and more than 50 MB', async ({
  cdpUrl,
  open,
  site,
  directory,
}) => {
  test.slow(); // 53 MB go through several processes
  const browser = await chromium.connectOverCDP(await open(cdpUrl));
  const page = await (await browser.newContext()).newPage();
  await page.goto(site.url);
  await page.evaluate(INPUT);
  const paths = ['a.txt', 'empty', 'ünï 日本.png', 'big.zip'].map((name) => join(directory, name));
  const [text = '', empty = '', image = '', big = ''] = paths;
  const files = [
    await written(text, 'hello', 'text/plain'),
    await written(empty, '', ''),
    await written(image, randomFillSync(Buffer.alloc(1024 * 1024)), 'image/png'),
    // More than Playwright itself sends to a browser elsewhere: 50 MB.
    await written(big, randomFillSync(Buffer.alloc(53_000_001)), 'application/zip'),
  ];
  await page.setInputFiles('input', paths);
  expect(await shown(page)).toEqual(files);
  expect(await page.evaluate('events')).toEqual(['input', 'change']);

  await page.setInputFiles('input', text);
  expect(await shown(page)).toEqual(files.slice(0, 1));
  await page.setInputFiles('input', []);
  expect(await shown(page)).toEqual([]);
  await page.setInputFiles('input', { name: 'b.txt', mimeType: 'text/plain', buffer: Buffer.from('buffer') });
  expect(await shown(page)).toMatchObject([{ name: 'b.txt', size: 6 }]);
});

test('uploads through a file chooser', async ({ cdpUrl, open, site, directory }) => {
  const browser = await chromium.connectOverCDP(await open(cdpUrl));
  const page = await (await browser.newContext()).newPage();
  await page.goto(site.url);
  await page.evaluate(INPUT);
  const file = await written(join(directory, 'a.json'), '{}', 'application/json');
  const [chooser] = await Promise.all([page.waitForEvent('filechooser'), page.locator('input').click()]);
  await chooser.setFiles(join(directory, 'a.json'));
  expect(await shown(page)).toEqual([file]);
});

test('fails only the upload whose page closes during it', async ({ cdpUrl, open, site, directory }) => {
  const browser = await chromium.connectOverCDP(await open(cdpUrl));
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(site.url);
  await page.evaluate(INPUT);
  const path = join(directory, 'big');
  await writeFile(path, Buffer.alloc(50_000_000));
  const upload = page.setInputFiles('input', path).catch((error: Error) => error.message);
  await page.close();
  expect(await upload).toMatch(CLOSED);
  expect(await (await context.newPage()).evaluate('6 * 7')).toBe(42);
});

const DIRECTORY_INPUT = INPUT.replace('multiple', 'webkitdirectory');

/** What a page sees of a directory in its input. */
async function shownDirectory(page: Page): Promise<unknown> {
  return await page.evaluate(`Promise.all([...document.querySelector('input').files]
    .map(async (file) => {
      const text = file.size > 99 ? file.size : await file.text();
      return [file.webkitRelativePath, file.name, file.type, file.lastModified, text];
    }))
    .then((files) => files.sort())`);
}

/** What a server gets from a page's form: each file's name, type and size. */
async function posted(page: Page, received: () => Buffer): Promise<unknown> {
  await page.evaluate(`{
    const form = Object.assign(document.createElement('form'), { method: 'post', action: '/posted', enctype: 'multipart/form-data' });
    document.body.append(form);
    form.append(Object.assign(document.querySelector('input'), { name: 'all' }), document.createElement('button'));
  }`);
  await Promise.all([page.waitForURL('**/posted'), page.click('button')]);
  const parts = received()
    .toString('latin1')
    .split(/--+WebKitFormBoundary\w+(?:--)?\r\n/)
    .slice(1, -1);
  return parts.map((part) => [/^.*\r\n.*/.exec(part)?.[0], part.length]).sort();
}

for (const onFullChromium of [true, false]) {
  test.describe(onFullChromium ? 'full Chromium' : 'the headless shell', slowIf(onFullChromium), () => {
    test.use({ onFullChromium });

    test('uploads a directory like a local browser: names, types, subdirectories, repeatedly', async ({
      cdpUrl,
      open,
      site,
      directory,
    }) => {
      const upload = join(directory, 'up load ü');
      await mkdir(join(upload, 'sub', '.git'), { recursive: true });
      await mkdir(join(upload, 'empty'));
      await writeFile(join(directory, 'outside.txt'), 'outside');
      await symlink(join(directory, 'outside.txt'), join(upload, 'link.txt'));
      await symlink(directory, join(upload, 'sub', 'link'));
      const names = [
        'a.txt',
        'b c ü.bin',
        '日本.png',
        'x.exe',
        'y.html',
        '%41.json',
        'noext',
        'z.lnk',
        'desktop.ini',
        '-d.css',
      ];
      for (const name of names) await writeFile(join(upload, name), `this is ${name}`);
      for (let n = 0; n < 25; n++) await writeFile(join(upload, 'sub', `${n}.txt`), String(n));
      await writeFile(join(upload, 'sub', '.git', 'HEAD'), '');
      for (const name of ['.env', '~a', 'dot.', '.a.']) await writeFile(join(upload, name), name);
      for (const name of ['a:b', 'c?"*<>|', 'd\\e']) await writeFile(join(upload, name), name);
      await writeFile(join(upload, 'sub', 'big.zip'), Buffer.alloc(5_000_001));

      const { chromium: full } = await allOnFullChromium();
      const executablePath = onFullChromium && full ? full : await localChromium();
      const local = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
      const nearPage = await local.newPage();
      const browser = await chromium.connectOverCDP(await open(cdpUrl));
      const farPage = await (await browser.newContext()).newPage();
      for (const page of [nearPage, farPage]) {
        await page.goto(site.url);
        await page.evaluate(DIRECTORY_INPUT);
        await page.setInputFiles('input', upload);
        expect(await page.evaluate('events')).toEqual(['input', 'change']);
      }
      expect(await shownDirectory(farPage)).toEqual(await shownDirectory(nearPage));
      expect(await shownDirectory(farPage)).toHaveLength(44);

      // Again with one more file, and then with none.
      await writeFile(join(upload, 'a second.txt'), 'second');
      await farPage.setInputFiles('input', upload);
      expect(await shownDirectory(farPage)).toHaveLength(45);
      await farPage.setInputFiles('input', join(upload, 'empty'));
      expect(await shownDirectory(farPage)).toEqual([]);
      await local.close();
    });
  });
}

proxyTest(
  'sends a directory in a form that the page submits itself, as a local browser does',
  async ({ proxied, dev, directory, near }) => {
    for (const name of ['a.txt', '.env', 'big.bin']) {
      await writeFile(join(directory, name), Buffer.alloc(name === 'big.bin' ? 3_000_000 : 9, name));
    }
    const sent: unknown[] = [];
    const local = await near.newContext();
    for (const context of [local, await proxied()]) {
      const page = await context.newPage();
      await page.goto(dev.url);
      await page.evaluate(DIRECTORY_INPUT);
      await page.setInputFiles('input', directory);
      dev.requests.length = 0;
      sent.push(await posted(page, () => dev.seen('/posted')?.body as Buffer));
    }
    await local.close();
    expect(sent[0]).toHaveLength(3);
    expect(sent[1]).toEqual(sent[0]);
  },
);

test('uploads 300 files, in their order', async ({ cdpUrl, open, site, directory }) => {
  const paths = Array.from({ length: 300 }, (_, n) => join(directory, `${n}.txt`));
  for (const path of paths) await writeFile(path, basename(path).repeat(1000));
  const browser = await chromium.connectOverCDP(await open(cdpUrl));
  const page = await (await browser.newContext()).newPage();
  await page.goto(site.url);
  await page.evaluate(INPUT);
  await page.setInputFiles('input', paths);
  const sizes = `[...document.querySelector('input').files].map((file) => [file.name, file.size])`;
  expect(await page.evaluate(sizes)).toEqual(paths.map((path) => [basename(path), basename(path).length * 1000]));
});

test('reports what cannot be read; Playwright, which gets no reason, retries until its timeout', async ({
  cdpUrl,
  open,
  site,
}) => {
  const said: string[] = [];
  const browser = await chromium.connectOverCDP(await open(cdpUrl, { onIncompleteUpload: (text) => said.push(text) }));
  const page = await (await browser.newContext()).newPage();
  await page.goto(site.url);
  await page.evaluate(INPUT);
  const trying = expect(page.setInputFiles('input', '/proc/self/mem', { timeout: 0 })).rejects.toThrow(CLOSED);
  await expect.poll(() => said.length).toBeGreaterThan(1);
  const [text, ...others] = new Set(said);
  expect(text).toMatch(/^Upload failed: EIO.*\. Not uploaded: \/proc\/self\/mem\.$/);
  expect(others).toEqual([]);
  await page.close();
  await trying;
});

test('runs these tests on a browser with another disk', async ({ cdpUrl, directory, open }) => {
  const browser = await chromium.connectOverCDP(await open(cdpUrl));
  const page = await (await browser.newContext()).newPage();
  await writeFile(join(directory, 'here.html'), 'here');
  expect(existsSync(join(directory, 'here.html'))).toBe(true);
  await expect(page.goto(`file://${join(directory, 'here.html')}`)).rejects.toThrow('ERR_FILE_NOT_FOUND');
});
