import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { chromium, type Page } from '@playwright/test';
import { build } from 'tsup';
import { supportsTransport } from '../../../src/clients/playwright/connection.ts';
import { shared } from '../../../tsup.config.ts';
import { expect, test } from '../../support/cdp/fixtures.ts';

// Not `@playwright/test`, which must be loaded only once.
const oldest = createRequire(new URL('../../e2e/playwright-1.48/package.json', import.meta.url))(
  'playwright-core',
) as typeof import('playwright-core');

// Some leave their browser's first page unresponsive, or look at the browser's other pages.
test.use({ ownBrowser: true });

test('detects whether Playwright supports a transport', async () => {
  expect(await supportsTransport(chromium)).toBe(true);
  expect(await supportsTransport(oldest.chromium)).toBe(false);
});

test.describe('with the first page hidden', () => {
  test('looks like a locally launched browser: no page, and contexts that work', async ({ connectThrough, site }) => {
    const { browser } = await connectThrough();
    expect(browser.contexts().flatMap((context) => context.pages())).toEqual([]);
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(site.url);
    expect(await page.title()).toBe('site');
    expect(browser.contexts().flatMap((each) => each.pages())).toEqual([page]);
    await context.close();
  });

  test('shows popups, also of the default context', async ({ connectThrough, site }) => {
    const { browser } = await connectThrough();
    for (const context of [await browser.newContext(), browser.contexts()[0]]) {
      const page = await context?.newPage();
      await page?.goto(site.url);
      const [popup] = await Promise.all([page?.waitForEvent('popup'), page?.evaluate('void window.open("/popup")')]);
      await popup?.waitForLoadState();
      expect(popup?.url()).toBe(`${site.url}/popup`);
      expect(context?.pages()).toEqual([page, popup]);
    }
  });

  test('connects when the first page does not respond', async ({ cdpUrl, connectThrough }) => {
    const other = await chromium.connectOverCDP(cdpUrl);
    const first = other.contexts()[0]?.pages()[0];
    const stuck = first?.evaluate('(() => { console.log("stuck"); for (;;); })()').catch(() => undefined);
    await first?.waitForEvent('console');
    const { browser } = await connectThrough();
    const page = await (await browser.newContext()).newPage();
    expect(await page.evaluate('6 * 7')).toBe(42);
    await other.close();
    await stuck;
  });
});

test('closes the connection on browser.close(), without ending the browser', async ({
  connectThrough,
  cdpUrl,
  open,
}) => {
  const { browser, transport } = await connectThrough();
  await browser.close();
  expect(await transport.closed).toMatchObject({ byUs: true });
  const again = await chromium.connectOverCDP(await open(cdpUrl));
  expect(again.isConnected()).toBe(true);
});

test('closes the connection when the browser crashes, and rejects every wait with the reason', async ({
  start,
  open,
}) => {
  const emulator = await start();
  const transport = await open((await emulator.api.create()).body.cdpUrl);
  const browser = await chromium.connectOverCDP(transport);
  const page = await (await browser.newContext()).newPage();
  const waiting = page.evaluate('new Promise(() => undefined)').catch((error: Error) => error.message);
  const disconnected = new Promise((resolve) => browser.once('disconnected', resolve));
  for (const pid of emulator.browserPids()) process.kill(pid, 'SIGKILL');
  expect(await transport.closed).toMatchObject({ code: 1006, byUs: false });
  expect(await waiting).toContain('closed');
  await disconnected;
});

/** Ways to end a page's process. */
const CRASHES: Record<string, (page: Page) => Promise<unknown>> = {
  'Page.crash': async (page) => (await page.context().newCDPSession(page)).send('Page.crash'),
  'chrome://crash': (page) => page.goto('chrome://crash'),
};
for (const [way, crash] of Object.entries(CRASHES)) {
  test(`an assertion that waits while its page crashes fails as locally: ${way}`, async ({
    connectThrough,
    near,
    site,
  }) => {
    const { browser } = await connectThrough();
    const failures: string[] = [];
    for (const context of [await near.newContext(), await browser.newContext()]) {
      const page = await context.newPage();
      await page.goto(site.url);
      const crashed = page.waitForEvent('crash');
      const waiting = expect(page.locator('#absent'))
        .toBeVisible({ timeout: 3_000 })
        .catch((error: Error) => stripVTControlCharacters(error.message));
      crash(page).catch(() => undefined);
      await crashed;
      failures.push(String(await waiting));
      await context.close();
    }
    // Which of the two it is depends on whether the assertion has looked once before the crash.
    const [locally, hosted] = failures.map((text) =>
      text.replace(/^Error: (element\(s\) not found|Target crashed *)$/m, ''),
    );
    expect(locally).toContain('expect(locator).toBeVisible() failed');
    expect(hosted).toBe(locally);
  });
}

test('passes a response of 140 MB, which exceeds the default limit of a WebSocket', async ({ connectThrough }) => {
  test.setTimeout(600_000); // more than three minutes beside a load of 40
  const { browser } = await connectThrough();
  const page = await (await browser.newContext()).newPage();
  const session = await page.context().newCDPSession(page);
  const expression = `'x'.repeat(140_000_000) + 'end'`;
  const { result } = await session.send('Runtime.evaluate', { expression, returnByValue: true });
  expect(result.value).toHaveLength(140_000_003);
  expect(result.value.slice(-4)).toBe('xend');
});

test("shows the address in none of Playwright's logs", async ({ cdpUrl }, testInfo) => {
  const outDir = testInfo.outputPath('built');
  await build({
    config: false,
    entry: { transport: fileURLToPath(new URL('../../../src/cdp/pipeline.ts', import.meta.url)) },
    ...shared,
    esbuildPlugins: [],
    format: ['esm'],
    outDir,
    silent: true,
  });
  const script = join(outDir, 'script.mjs');
  await writeFile(
    script,
    `import { chromium } from 'playwright-core';
    import { openTransport } from './transport.js';
    const transport = await openTransport(process.env.CDP_URL);
    const browser = await chromium.connectOverCDP(transport);
    const page = await browser.newPage();
    await page.goto('data:text/html,hello');
    await page.goto('http://127.0.0.1:1/').catch((error) => console.error(error));
    await browser.close();
    await page.title().catch((error) => console.error(error));
    await chromium.connectOverCDP(transport, { timeout: 2000 }).catch((error) => console.error(error));`,
  );
  const child = spawn(process.execPath, [script], { env: { ...process.env, DEBUG: 'pw:*', CDP_URL: cdpUrl } });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
    });
  }
  const code = await new Promise((resolve) => child.once('close', resolve));
  expect(code, output).toBe(0);
  // Logs and errors were printed.
  expect(output).toContain('Target.setAutoAttach');
  expect(output).toContain('page.goto: ');
  const { pathname } = new URL(cdpUrl);
  expect(pathname.length).toBeGreaterThan(10);
  expect(output).not.toContain(pathname);
  expect(output).not.toContain(pathname.split('/').at(-1));
});
