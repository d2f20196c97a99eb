import { createHash, randomFillSync } from 'node:crypto';
import { existsSync } from 'node:fs';
import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { chromium, type Page } from 'playwright-core';
import { expect, test } from '../../support/cdp/fixtures.ts';
import { hasOwnDisks } from '../../support/own-disks.ts';

/** Uploads from this machine's disk to a browser that has another one. */

test.skip(!hasOwnDisks, 'this machine does not allow a browser a disk of its own');
test.use({ onFullChromium: true });

const INPUT = `
  document.body.innerHTML = '<input type=file multiple>';
  window.events = [];
  for (const type of ['input', 'change']) document.body.addEventListener(type, (event) => events.push(event.type));`;

/** What the page sees of the files in its input, and which events it got. */
async function shown(page: Page): Promise<unknown> {
  return await page.evaluate(`Promise.all([...document.querySelector('input').files].map(async (file) => {
    const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', await file.arrayBuffer()));
    const sha256 = [...digest].map((byte) => byte.toString(16).padStart(2, '0')).join('');
    return { name: file.name, size: file.size, type: file.type, lastModified: file.lastModified, sha256 };
  }))`);
}

async function written(path: string, content: Buffer | string, type: string) {
  await writeFile(path, content);
  const { size, mtimeMs } = await stat(path);
  const sha256 = createHash('sha256').update(content).digest('hex');
  return { name: path.split('/').at(-1), size, type, lastModified: Math.floor(mtimeMs), sha256 };
}

test('files of every size arrive, several at once, 70 MB too', async ({ cdpUrl, open, site, folder }) => {
  const browser = await chromium.connectOverCDP(await open(cdpUrl));
  const page = await (await browser.newContext()).newPage();
  await page.goto(site.url);
  await page.evaluate(INPUT);
  const paths = ['a.txt', 'empty', 'ünï 日本.png', 'big.zip'].map((name) => join(folder, name));
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

test('through a file chooser', async ({ cdpUrl, open, site, folder }) => {
  const browser = await chromium.connectOverCDP(await open(cdpUrl));
  const page = await (await browser.newContext()).newPage();
  await page.goto(site.url);
  await page.evaluate(INPUT);
  const file = await written(join(folder, 'a.json'), '{}', 'application/json');
  const [chooser] = await Promise.all([page.waitForEvent('filechooser'), page.locator('input').click()]);
  await chooser.setFiles(join(folder, 'a.json'));
  expect(await shown(page)).toEqual([file]);
});

test('a page that closes in the middle fails the upload, and nothing else', async ({ cdpUrl, open, site, folder }) => {
  const browser = await chromium.connectOverCDP(await open(cdpUrl));
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(site.url);
  await page.evaluate(INPUT);
  const path = join(folder, 'big');
  await writeFile(path, Buffer.alloc(50_000_000));
  const upload = page.setInputFiles('input', path).catch((error: Error) => error.message);
  await page.close();
  expect(await upload).toContain('closed');
  expect(await (await context.newPage()).evaluate('6 * 7')).toBe(42);
});

test('the browser of these tests has another disk indeed', async ({ cdpUrl, folder, open }) => {
  const browser = await chromium.connectOverCDP(await open(cdpUrl));
  const page = await (await browser.newContext()).newPage();
  await writeFile(join(folder, 'here.html'), 'here');
  expect(existsSync(join(folder, 'here.html'))).toBe(true);
  await expect(page.goto(`file://${join(folder, 'here.html')}`)).rejects.toThrow('ERR_FILE_NOT_FOUND');
});
