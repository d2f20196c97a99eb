import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from '../../support/e2e/fixtures.ts';
import { requires } from '../../support/requires.ts';

/** Files in both directions, with browsers on a different disk. */

const HUGE_BYTES = 100_000_000;
/** Playwright before 1.61 rejects more for a remote browser, unless it uses our transport. */
const LIMIT_BYTES = 50_000_000;

const SUITE = `
import { createReadStream, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createHash } from 'node:crypto';

const sha256 = (content) => createHash('sha256').update(content).digest('hex');
const get = async (page, href, name = '') => {
  const link = \`Object.assign(document.createElement('a'), \${JSON.stringify({ href, download: name })}).click()\`;
  const [download] = await Promise.all([page.waitForEvent('download'), page.evaluate(link)]);
  return download;
};

test.beforeEach(async ({ page }) => void (await page.goto('/')));

test('the browser has another disk', async ({ page }) => {
  await expect(page.goto('file://' + __filename)).rejects.toThrow('ERR_FILE_NOT_FOUND');
});
test('downloads: saveAs, path, createReadStream, failure, delete', async ({ page }, testInfo) => {
  const download = await get(page, '/file.txt');
  expect(download.suggestedFilename()).toBe('file.txt');
  expect(await download.failure()).toBe(null);
  await download.saveAs(testInfo.outputPath('deep/saved.txt'));
  expect(readFileSync(testInfo.outputPath('deep/saved.txt'), 'utf8')).toBe('this is file.txt');
  expect(readFileSync(await download.path(), 'utf8')).toBe('this is file.txt');
  let text = '';
  for await (const piece of await download.createReadStream()) text += piece;
  expect(text).toBe('this is file.txt');
  const path = await download.path();
  await download.delete();
  expect(existsSync(path)).toBe(false);
});
test('downloads: empty, blob, data', async ({ page }) => {
  expect(statSync(await (await get(page, '/empty')).path()).size).toBe(0);
  const blob = await page.evaluate("URL.createObjectURL(new Blob(['from a blob']))");
  expect(readFileSync(await (await get(page, blob, 'b.bin')).path(), 'utf8')).toBe('from a blob');
  expect(readFileSync(await (await get(page, 'data:application/x-thing,data', 'd.bin')).path(), 'utf8')).toBe('data');
});
test('downloads: large', async ({ page }) => {
  test.setTimeout(240_000);
  const download = await get(page, '/huge');
  expect(statSync(await download.path()).size).toBe(${HUGE_BYTES});
});
test('downloads: several at once', async ({ page }) => {
  const downloads = [];
  for (let n = 0; n < 5; n += 1) downloads.push(await get(page, '/n' + n));
  const texts = await Promise.all(downloads.map(async (each) => readFileSync(await each.path(), 'utf8')));
  expect(texts).toEqual([0, 1, 2, 3, 4].map((n) => 'this is n' + n));
});
test('downloads: cancelled, and failed', async ({ page }) => {
  const endless = await get(page, '/endless');
  await endless.cancel();
  expect(await endless.failure()).toBe('canceled');
  const broken = await get(page, '/broken');
  expect(await broken.failure()).not.toBe(null);
});
test('uploads: buffers and paths, several, large', async ({ page }, testInfo) => {
  test.setTimeout(240_000);
  await page.setContent('<input type=file multiple>');
  const read = "Promise.all([...document.querySelector('input').files].map(async (f) => [f.name, f.size, (await f.slice(0, 9).text())]))";
  await page.setInputFiles('input', { name: 'buffer.txt', mimeType: 'text/plain', buffer: Buffer.from('in memory') });
  expect(await page.evaluate(read)).toEqual([['buffer.txt', 9, 'in memory']]);
  const [small, large] = ['small.txt', 'large.bin'].map((name) => testInfo.outputPath(name));
  writeFileSync(small, 'on disk');
  writeFileSync(large, Buffer.alloc(Number(process.env.UPLOAD_BYTES), 'x'));
  await page.setInputFiles('input', [small, large]);
  expect(await page.evaluate(read)).toEqual([['small.txt', 7, 'on disk'], ['large.bin', Number(process.env.UPLOAD_BYTES), 'xxxxxxxxx']]);
  await page.setInputFiles('input', []);
  expect(await page.evaluate(read)).toEqual([]);
});
test('uploads: a directory', async ({ page }, testInfo) => {
  await page.setContent('<input type=file webkitdirectory>');
  const directory = testInfo.outputPath('directory');
  mkdirSync(directory + '/below', { recursive: true });
  writeFileSync(directory + '/one.txt', 'on disk');
  writeFileSync(directory + '/below/two.txt', 'on disk, too');
  const read = "Promise.all([...document.querySelector('input').files].map(async (f) => [f.webkitRelativePath, await f.text()])).then((all) => all.sort())";
  await page.setInputFiles('input', directory);
  expect(await page.evaluate(read)).toEqual([['directory/below/two.txt', 'on disk, too'], ['directory/one.txt', 'on disk']]);
});
`;

async function startFiles() {
  const server = createServer((request, response) => {
    const name = request.url?.slice(1) ?? '';
    if (name === '') return response.setHeader('content-type', 'text/html').end('<title>files</title>');
    response.setHeader('content-disposition', `attachment; filename="${name}"`);
    response.setHeader('content-type', 'application/octet-stream');
    if (name === 'empty') return response.end();
    if (name === 'endless') return response.write(Buffer.alloc(100_000));
    if (name === 'broken') {
      response.setHeader('content-length', 1_000_000);
      return response.write(Buffer.alloc(100_000), () => response.destroy());
    }
    return response.end(name === 'huge' ? Buffer.alloc(HUGE_BYTES, 7) : `this is ${name}`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

test('files › are downloaded and uploaded', { tag: ['@versions', '@slow'] }, async ({ runSuite }) => {
  requires('unshare');
  const files = await startFiles();
  try {
    // The browsers reach this site directly: this test does not cover the network proxy.
    const run = await runSuite({
      options: `{ exposeNetwork: '' }`,
      tests: SUITE,
      args: ['--workers=1'],
      env: { SITE_URL: files.url, UPLOAD_BYTES: String(LIMIT_BYTES) },
    });
    expect(await run.tests()).toHaveLength(8);
  } finally {
    files.close();
  }
});

test('files › above 50 MB are uploaded by path through our transport', { tag: '@slow' }, async ({ runSuite }) => {
  const files = await startFiles();
  try {
    const run = await runSuite({
      options: `{ exposeNetwork: '' }`,
      tests: SUITE,
      args: ['--grep=uploads: buffers'],
      env: { SITE_URL: files.url, UPLOAD_BYTES: String(LIMIT_BYTES + 10_000_000) },
    });
    expect(run.output).toContain('1 passed');
  } finally {
    files.close();
  }
});
