import { readdir, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Page } from '@playwright/test';
import { violationsOn } from '../../support/accessibility.ts';
import { expect, test } from '../../support/e2e/fixtures.ts';
import { runCommand } from '../../support/e2e/run-command.ts';
import { vitest } from '../../support/e2e/runner-kits.ts';
import { fullLength } from '../../support/property-runs.ts';

/** The film of a failed test, in a real browser, loaded from its file. */

const MAX_BYTES = 3_000_000;

/** Changes often, in two pages, then shows a secret address. */
const FAILS = `
  await page.goto('/');
  for (let n = 0; n < 8; n += 1) {
    await page.evaluate((hue) => { document.body.innerHTML = '<h1>' + hue + '</h1>'; document.body.style.background = 'hsl(' + hue + ', 80%, 60%)'; }, n * 40);
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
  await page.goto('/?token=s3cr3t-value');
  await new Promise((resolve) => setTimeout(resolve, 1_000));`;

const TESTS = `
test('passes', async ({ page }) => { await page.goto('/'); });
test('fails </script> & ends', async ({ page, context }) => {
  const other = await context.newPage();
  await other.goto('about:blank');
  ${FAILS}
  expect(await page.title()).toBe('another');
});
test('fails at once', async ({ page }) => { await page.goto('/'); await page.goto('/?last'); expect(1).toBe(2); });
test.fail('fails as expected', async ({ page }) => { await page.goto('/'); expect(1).toBe(2); });`;

/** Opens a film, and checks what every film must do. */
async function watch(page: Page, file: string): Promise<void> {
  expect((await stat(file)).size).toBeLessThanOrEqual(MAX_BYTES);
  expect(await readFile(file, 'utf8')).not.toContain('s3cr3t-value');
  const said: string[] = [];
  page.on('console', (message) => said.push(message.text()));
  page.on('pageerror', (error) => said.push(String(error)));
  page.on('request', (request) => {
    if (!/^(file|data):/.test(request.url())) said.push(`asked for ${request.url()}`);
  });
  await page.goto(`file://${file}`);
  const image = page.getByRole('img');
  await expect.poll(() => page.evaluate(`document.querySelector('img').naturalWidth`)).toBeGreaterThan(100);
  const scrubber = page.getByRole('slider', { name: 'Time' });
  await expect(scrubber).toHaveAttribute('aria-valuetext', /token=\*\*\*/);
  const last = await image.getAttribute('src');
  const texts = new Set<string | null>();
  await page.keyboard.press('Home');
  for (let n = 0; n < 12; n += 1) {
    texts.add(await image.getAttribute('src'));
    await page.keyboard.press('ArrowRight');
  }
  expect(texts.size).toBeGreaterThan(4);
  for (const src of texts) {
    const width = await page.evaluate(
      `(async () => { const image = new Image(); image.src = ${JSON.stringify(src)}; await image.decode(); return image.width; })()`,
    );
    expect(width).toBeGreaterThan(100);
  }
  await page.keyboard.press('Home');
  const value = Number(await scrubber.inputValue());
  await page.getByRole('button', { name: 'Play' }).click();
  await expect.poll(async () => Number(await scrubber.inputValue())).toBeGreaterThan(value + 500);
  await page.getByRole('button', { name: 'Pause' }).click();
  await page.locator('.visits button').last().click();
  await expect(page.locator('.address')).toContainText('token=***');
  await page.keyboard.press('End');
  await expect(image).toHaveAttribute('src', String(last));
  expect(said).toEqual([]);
}

test('film › is attached to failed tests, and its bytes are on record', { tag: '@long' }, async ({
  runSuite,
  site,
  page,
}) => {
  const run = await runSuite({
    options: `{ film: 'retain-on-failure' }`,
    config: 'workers: 1,',
    tests: TESTS,
    code: 1,
  });
  const films = (await run.tests()).map(({ title, results }) => ({
    title,
    films: results.flatMap(({ attachments }) => attachments.filter(({ name }) => name === 'film')),
  }));
  expect(films.map(({ title, films: { length } }) => [title, length])).toEqual([
    ['passes', 0],
    ['fails </script> & ends', 1],
    ['fails at once', 1],
    ['fails as expected', 0],
  ]);
  const [film, atOnce] = films.flatMap((each) => each.films);
  expect(film?.contentType).toBe('text/html');
  await watch(page, String(film?.path));
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('fails </script> & ends');
  const chooser = page.getByRole('combobox', { name: 'Page' });
  await expect(chooser.locator('option')).toHaveCount(2);
  const addresses: (string | null)[] = [];
  for (const index of [0, 1]) {
    await chooser.selectOption({ index });
    addresses.push(await page.locator('.address').textContent());
  }
  // In the order of their first pictures: either may be the first one.
  expect(addresses).toContain('about:blank');
  await chooser.selectOption({ index: 1 - addresses.indexOf('about:blank') });
  await expect(page.locator('.address')).toContainText('token=***');

  await page.goto(`file://${atOnce?.path}`);
  await expect(page.locator('.address')).toHaveText(`${site.url}/?last`.replace('//?', '/?'));
  // The first document was shown for less time than a picture takes.
  const visits = page.locator('.visits button').filter({ hasNotText: 'about:blank' });
  await expect(visits).toHaveText([/\/$/, /\/\?last$/]);
  await expect(page.locator('.error')).toContainText('expect(received).toBe(expected)');
  await expect(chooser).toBeHidden();
  await page.goBack();

  const [light, dark] = fullLength<number[][]>(
    [
      [390, 1024],
      [390, 1024],
    ],
    [[390], [1024]],
  );
  for (const [colorScheme, widths = []] of [
    ['light', light],
    ['dark', dark],
  ] as const) {
    for (const width of widths) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 800 });
      expect(await violationsOn(page)).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
      const path = test.info().outputPath(`${colorScheme}-${width}.png`);
      await page.screenshot({ path, fullPage: true });
      await test.info().attach(`${colorScheme} ${width}`, { path, contentType: 'image/png' });
    }
  }
  const { sessions } = await run.record();
  const bytes = sessions.reduce((sum, { pictureBytes }) => sum + pictureBytes, 0);
  expect(bytes).toBeGreaterThan(10_000);
  expect(run.output).toMatch(/used {6}.*; [\d.]+ [kM]B of pictures of pages/);
});

// runners/evidence.spec.ts tests it with all runners.
test("film › is a file beside the record, named in the failure's message, with Puppeteer", { tag: '@slow' }, async ({
  newConsumer,
  service,
  site,
  page,
}) => {
  const consumer = await newConsumer();
  const passes = { name: 'passes', body: `await page.goto(process.env.SITE_URL);` };
  const fails = { name: 'fails', body: `${FAILS.replaceAll("'/", "process.env.SITE_URL + '/")} expect(1).toBe(2);` };
  await consumer.write({
    ...vitest.config,
    ...Object.fromEntries([vitest.file('a', [passes, fails])]),
    'poolwright.config.mjs': `export default { film: 'retain-on-failure' };`,
    'test-results/poolwright/film/old.html': 'of an earlier run',
  });
  // No program of the machine's but Node.
  const env = { ...service.env, SITE_URL: site.url, PATH: dirname(process.execPath) };
  const { code, output } = await runCommand(consumer, vitest.args, env);
  expect(code, output).toBe(1);
  const directory = 'test-results/poolwright/film';
  const names = await readdir(join(consumer.directory, directory));
  expect(names).toEqual([expect.stringMatching(/^fails-[0-9a-f]{8}\.html$/)]);
  expect(output).toContain(`film: ${directory}/${names[0]}`);
  await watch(page, join(consumer.directory, directory, String(names[0])));
  await expect(page.locator('.error')).toContainText('expected 1 to be 2');
});
