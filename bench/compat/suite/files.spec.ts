import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { expect, test } from '../test.ts';

test.beforeEach(async ({ page }) => {
  await page.goto('/');
});

test('download: path, saveAs, stream', async ({ page }, testInfo) => {
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByText('Download').click()]);
  expect(download.suggestedFilename()).toBe('file.txt');
  expect(readFileSync(await download.path(), 'utf8')).toBe('from the site');
  await download.saveAs(testInfo.outputPath('saved.txt'));
  expect(statSync(testInfo.outputPath('saved.txt')).size).toBe(13);
  const chunks: Buffer[] = [];
  for await (const chunk of await download.createReadStream()) chunks.push(chunk as Buffer);
  expect(Buffer.concat(chunks).toString()).toBe('from the site');
});
test('download of a blob', async ({ page }) => {
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.evaluate(() => {
      const link = document.createElement('a');
      link.href = URL.createObjectURL(new Blob(['made here']));
      link.download = 'made.txt';
      link.click();
    }),
  ]);
  expect(readFileSync(await download.path(), 'utf8')).toBe('made here');
});
test('upload: buffers', async ({ page }) => {
  await page.getByLabel('File').setInputFiles({ name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('hello') });
  expect(await page.getByLabel('File').evaluate((input: HTMLInputElement) => input.files?.[0]?.text())).toBe('hello');
});
test('upload: paths, several', async ({ page }, testInfo) => {
  for (const name of ['a.txt', 'b.txt']) writeFileSync(testInfo.outputPath(name), name);
  await page.getByLabel('File').setInputFiles([testInfo.outputPath('a.txt'), testInfo.outputPath('b.txt')]);
  const names = await page.getByLabel('File').evaluate(async (input: HTMLInputElement) => {
    return Promise.all([...(input.files ?? [])].map((file) => file.text()));
  });
  expect(names).toEqual(['a.txt', 'b.txt']);
});
test('upload: file chooser', async ({ page }, testInfo) => {
  writeFileSync(testInfo.outputPath('chosen.txt'), 'chosen');
  const [chooser] = await Promise.all([page.waitForEvent('filechooser'), page.getByLabel('File').click()]);
  await chooser.setFiles(testInfo.outputPath('chosen.txt'));
  expect(await page.getByLabel('File').evaluate((input: HTMLInputElement) => input.files?.[0]?.text())).toBe('chosen');
});
test('video', async ({ browser, baseURL }, testInfo) => {
  const context = await browser.newContext({ recordVideo: { dir: testInfo.outputPath('video') }, baseURL });
  const page = await context.newPage();
  await page.goto('/');
  await context.close();
  expect(statSync((await page.video()?.path()) ?? '').size).toBeGreaterThan(0);
});
