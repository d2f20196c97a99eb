import { createHash, randomFillSync } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, stat, symlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { chromium, type Page } from '@playwright/test';
import { expect, test } from '../../support/cdp/fixtures.ts';
import { allOnFullChromium, localChromium } from '../../support/local-chromium.ts';
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

test('uploads files of every size, several at the same time, and 70 MB', async ({ cdpUrl, open, site, directory }) => {
  test.slow(); // 70 MB go through several processes
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
    await written(big, randomFillSync(Buffer.alloc(70_000_001)), 'application/zip'),
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
    .map(async (file) => [file.webkitRelativePath, file.type, file.size > 99 ? file.size : await file.text()]))
    .then((files) => files.sort())`);
}

for (const onFullChromium of [true, false]) {
  test.describe(onFullChromium ? 'full Chromium' : 'the headless shell', () => {
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
      expect(await shownDirectory(farPage)).toHaveLength(37);

      // Again with one more file, and then with none.
      await writeFile(join(upload, 'a second.txt'), 'second');
      await farPage.setInputFiles('input', upload);
      expect(await shownDirectory(farPage)).toHaveLength(38);
      await farPage.setInputFiles('input', join(upload, 'empty'));
      expect(await shownDirectory(farPage)).toEqual([]);
      await local.close();
    });
  });
}

test('reports names that Chromium changes in a directory, and hides the transfer', async ({
  cdpUrl,
  open,
  site,
  directory,
}) => {
  const said: string[] = [];
  const browser = await chromium.connectOverCDP(await open(cdpUrl, { onIncompleteUpload: (text) => said.push(text) }));
  const context = await browser.newContext();
  const page = await context.newPage();
  const downloads: unknown[] = [];
  page.on('download', (download) => downloads.push(download));
  await page.goto(site.url);
  await page.evaluate(DIRECTORY_INPUT);
  for (const name of ['ok.txt', '.hidden', '~a', 'dot.']) await writeFile(join(directory, name), '');
  await page.setInputFiles('input', directory);
  expect(await page.evaluate(`document.querySelector('input').files.length`)).toBe(4);
  expect(said).toHaveLength(1);
  for (const name of ['.hidden', '~a', 'dot.']) expect(said[0]).toContain(`${basename(directory)}/${name}`);
  expect(said[0]).not.toContain('ok.txt');
  // The first one is the default context.
  expect(browser.contexts()).toHaveLength(2);
  expect(browser.contexts().flatMap((each) => each.pages())).toEqual([page]);
  expect(downloads).toEqual([]);
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
  expect([...new Set(said)]).toEqual([expect.stringMatching(/^\/proc\/self\/mem was not uploaded: EIO/)]);
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
