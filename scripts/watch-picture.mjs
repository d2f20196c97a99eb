import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { chromium } from 'playwright-core';
import { palettePng } from './palette-png.mjs';
import { main, playwrightTest } from './playwright.mjs';
import { setUp } from './set-up.mjs';

/**
 * `node scripts/watch-picture.mjs`: the page of `poolwright watch` in the documentation, during a run on the emulator
 * with six workers.
 */

const PICTURE = 'docs/images/watch.png';
/** CSS pixels. */
const SIZE = { width: 1000, height: 990 };
const WORKERS = 6;

const CONFIG = `
const { withHostedBrowsers } = require('poolwright');
module.exports = withHostedBrowsers({
  fullyParallel: true,
  timeout: 300_000,
  reporter: 'null',
  use: { baseURL: process.env.SITE, viewport: { width: 1024, height: 640 } },
  projects: [{ name: 'chromium' }],
});`;

/** Some tests end, two of them fail; the others are still there when the picture is taken. */
const TESTS = `
const { test } = require('poolwright');
const { expect } = require('@playwright/test');
const { existsSync } = require('node:fs');
const stay = (title) => test.step(title, async () => {
  while (!existsSync(__dirname + '/go-on')) await new Promise((resolve) => setTimeout(resolve, 100));
});

test.describe('order', () => {
  test('refuses an order without a name', async ({ page }) => {
    await page.goto('/order');
    await page.getByRole('button', { name: 'Place order' }).click();
    await expect(page.getByRole('alert')).toHaveText('Please correct 1 field.', { timeout: 1 });
  });
});
test.describe('garden', () => {
  test('shows the garden in winter', async ({ page }) => {
    await page.goto('/garden');
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('Our garden in winter', { timeout: 1 });
  });
});
for (const path of ['', 'teas', 'garden', 'order', 'list', 'login', 'teas/snow-bud', 'brew'])
  test('opens /' + path, async ({ page }) => { await page.goto('/' + path); });

test.describe('shop', () => {
  test('lists the teas of this season', async ({ page }) => { await page.goto('/teas'); await stay('compares prices'); });
  test('describes a tea and how to brew it', async ({ page }) => { await page.goto('/teas/iron-goddess'); await stay('reads about Iron Goddess'); });
});
test.describe('garden', () => {
  test('shows where the tea grows', async ({ page }) => { await page.goto('/garden'); await stay('looks at the picture'); });
});
test.describe('order', () => {
  test('takes an order once its mistakes are corrected', async ({ page }) => {
    await page.goto('/order?tea=old-tree');
    await page.getByLabel('Name').fill('Mei');
    await page.getByLabel('E-mail').fill('nowhere');
    await page.getByRole('button', { name: 'Place order' }).click();
    await stay('corrects the e-mail address');
  });
});
test.describe('account', () => {
  test('logs in with a second factor', async ({ page, hostedSession }) => {
    await page.goto('/login');
    await page.getByLabel('E-mail').fill('mei@example.com');
    await hostedSession.hold('Enter the code from your phone');
  });
});
test('welcomes a new visitor', async ({ page }) => { await page.goto('/'); await stay('reads the welcome'); });
`;

await main(async () => {
  await setUp();
  const { findChromiums } = await import('../dist/emulator.js');
  const { shell, full } = await findChromiums();
  let run = null;
  const directory = await mkdtemp(resolve('examples', '.picture-'));
  const [site, siteLine] = await started(['examples/site/server.mjs', '--port', '0']);
  const [watch, watchLine] = await started(['dist/cli.js', 'watch', '--json']);
  const browser = await chromium.launch({ executablePath: (shell ?? full).path, args: ['--no-sandbox'] });
  try {
    await writeFile(join(directory, 'playwright.config.js'), CONFIG);
    await writeFile(join(directory, 'package.json'), '{"name":"tea house"}');
    await writeFile(join(directory, 'a.spec.js'), TESTS);
    const env = { CI: '', POOLWRIGHT_API_KEY: '', POOLWRIGHT_BASE_URL: '', SITE: /http\S+/.exec(siteLine)?.[0] };
    // A light page, readable on a dark one, too.
    const page = await browser.newPage({ viewport: SIZE, colorScheme: 'light' });
    page.setDefaultTimeout(120_000);
    await page.goto(JSON.parse(watchLine).url);
    run = playwrightTest(['-c', directory, `--workers=${WORKERS}`, '--max-failures=0'], env);
    await page.locator('[data-state="hold"]').first().waitFor();
    await page
      .locator('.tile canvas:visible')
      .nth(WORKERS - 1)
      .waitFor();
    await page.locator('.counts', { hasText: '8 passed' }).waitFor();
    // Two pictures per second: the last ones are complete.
    await page.waitForTimeout(2_000);
    const picture = await page.screenshot();
    await writeFile(PICTURE, await palettePng(await browser.newPage(), picture));
    await page.getByRole('button', { name: 'Continue the test' }).first().click();
    await writeFile(join(directory, 'go-on'), '');
    await run;
  } finally {
    process.emit('SIGTERM'); // ends a run that this has failed to end
    await run;
    await browser.close();
    for (const child of [site, watch]) {
      child.kill('SIGINT');
      await once(child, 'exit');
    }
    // A run that is still there writes its record.
    await rm(directory, { recursive: true, maxRetries: 10, retryDelay: 500 });
  }
  return 0;
});

/** A process of Node, and its first line. */
async function started(args) {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  return [child, line];
}
