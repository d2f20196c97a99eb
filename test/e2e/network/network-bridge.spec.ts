import { startDevServer } from '../../support/cdp/dev-server.ts';
import { PLAYWRIGHTS, type PlaywrightVersion } from '../../support/e2e/consumer.ts';
import { expect, test } from '../../support/e2e/fixtures.ts';
import { freePort } from '../../support/e2e/free-port.ts';
import { reportedTests, runPlaywright } from '../../support/e2e/run-playwright.ts';
import { startService } from '../../support/e2e/service.ts';
import { suite, wrappedConfig } from '../../support/e2e/suites.ts';
import { localChromium } from '../../support/local-chromium.ts';

/** The service's browsers cannot reach this machine's loopback, and the suite's own server is there. */

const SUITE = `
import { test, expect } from '@playwright/test';

test('reaches the suite server', async ({ page, context }) => {
  await page.goto('/');
  await expect(page.locator('h1')).toHaveCSS('color', 'rgb(1, 2, 3)');
  await page.evaluate(() => fetch('/cookies'));
  expect(await context.cookies()).toHaveLength(3);
  const answer = await page.evaluate(async () => (await fetch('/echo', { method: 'PUT', body: 'hello' })).json());
  expect(answer).toMatchObject({ method: 'PUT', body: Buffer.from('hello').toString('base64') });
  expect(answer.headers.cookie).toBe('first=1; second=2; third=3');
});
test('with routes', async ({ page, context }) => {
  await context.route('**/echo', (route) => route.continue({ headers: { ...route.request().headers(), 'x-own': 'yes' } }));
  await page.route('**/echo', (route) => route.fallback());
  await page.route('**/app.js', (route) => route.fulfill({ contentType: 'text/javascript', body: 'window.app = "mine"' }));
  await page.route('**/status**', async (route) => route.fulfill({ response: await route.fetch(), body: 'fetched here' }));
  await page.goto('/');
  expect(await page.evaluate('window.app')).toBe('mine');
  expect(await page.evaluate(async () => (await fetch('/status?code=404')).text())).toBe('fetched here');
  const [response] = await Promise.all([page.waitForResponse('**/echo'), page.evaluate(() => fetch('/echo'))]);
  expect((await response.json()).headers['x-own']).toBe('yes');
  await page.unrouteAll();
  await context.unrouteAll();
  await page.goto('/');
  expect(await page.evaluate('window.app')).toBe('loaded');
});
test('hot reload', async ({ page }) => {
  await page.goto('/');
  const [socket, got] = await Promise.all([
    page.waitForEvent('websocket'),
    page.evaluate((url) => new Promise((resolve) => {
      const socket = new WebSocket(url, 'vite-hmr');
      const got = [];
      socket.onmessage = ({ data }) => got.push(data) === 2 ? resolve(got) : socket.send('update');
    }), process.env.SITE_URL.replace('http', 'ws') + '/hmr'),
  ]);
  expect(JSON.parse(got[0])).toMatchObject({ path: '/hmr', protocol: 'vite-hmr', headers: { origin: process.env.SITE_URL } });
  expect(got[1]).toBe('update');
  expect(socket.url()).toContain('/hmr');
});
test('refused', async ({ page }) => {
  await expect(page.goto('http://localhost:1/')).rejects.toThrow(/net::ERR_(CONNECTION_REFUSED|UNSAFE_PORT)/);
});
test('a certificate of its own', async ({ browser }) => {
  const context = await browser.newContext({ ignoreHTTPSErrors: true });
  const page = await context.newPage();
  await page.goto(process.env.SECURE_URL);
  await expect(page.locator('h1')).toHaveText('Dev');
  await context.close();
});
`;

const CONFIG = `
import { defineConfig } from '@playwright/test';
import { withHostedBrowsers } from 'poolwright';

export default defineConfig(withHostedBrowsers({
  testDir: './tests',
  reporter: [['list'], ['json']],
  use: { baseURL: process.env.SITE_URL, trace: 'on' },
}, JSON.parse(process.env.OPTIONS ?? '{}')));
`;

for (const version of Object.keys(PLAYWRIGHTS) as PlaywrightVersion[]) {
  test(`a remote browser reaches the suite's own server: Playwright ${version}`, async ({ newConsumer }) => {
    const [service, dev, secure] = await Promise.all([
      startService({ allowLoopback: false }),
      startDevServer(),
      startDevServer({ secure: true }),
    ]);
    try {
      const consumer = await newConsumer(version);
      await consumer.write({ 'playwright.config.ts': CONFIG, 'tests/dev.spec.ts': SUITE });
      const env = { ...service.env, SITE_URL: dev.url, SECURE_URL: secure.url };
      const run = await runPlaywright(consumer, ['--workers=1'], env);
      expect(run.code, run.output).toBe(0);
      expect(await reportedTests(consumer)).toHaveLength(5);

      const off = await runPlaywright(consumer, ['--grep=reaches'], { ...env, OPTIONS: '{"exposeNetwork":""}' });
      expect(off.code).toBe(1);
      expect(off.output).toContain('net::ERR_');
      // Once, however many requests and tests.
      const hint = off.output.match(/poolwright: .* was not reached: .*/g);
      expect(hint).toEqual([expect.stringContaining(`${dev.url} was not reached`)]);
      expect(hint?.[0]).toContain("`exposeNetwork: '<loopback>'`");
      expect(run.output).not.toContain('was not reached');
      const asked = dev.requests.length;
      const other = `{"exposeNetwork":"localhost:${secure.port}"}`;
      const elsewhere = await runPlaywright(consumer, ['--grep=reaches|certificate'], { ...env, OPTIONS: other });
      expect(elsewhere.output).toContain('1 failed');
      expect(elsewhere.output).toContain('1 passed');
      expect(dev.requests).toHaveLength(asked);

      const wrong = '{"exposeNetwork":"http://localhost"}';
      const refused = await runPlaywright(consumer, [], { ...env, OPTIONS: wrong });
      expect(refused.code).toBe(1);
      expect(refused.output).toContain('the rule "http://localhost" is no host');
      expect(await service.running()).toEqual([]);
    } finally {
      await Promise.all([service.stop(), dev.close(), secure.close()]);
    }
  });
}

const SERVER = `
import { createServer } from 'node:http';
createServer((request, response) => response.setHeader('content-type', 'text/html').end('<h1>Mine</h1>'))
  .listen(Number(process.env.PORT), '127.0.0.1');
`;

for (const version of Object.keys(PLAYWRIGHTS) as PlaywrightVersion[]) {
  test(`a webServer and the embedded emulator go together: Playwright ${version}`, async ({ newConsumer }) => {
    const port = await freePort();
    const consumer = await newConsumer(version);
    await consumer.write({
      'server.mjs': SERVER,
      'playwright.config.ts': wrappedConfig(
        '{}',
        "webServer: { command: 'node server.mjs', port: Number(process.env.PORT) },",
      ),
      'tests/own.spec.ts': suite(`
        test('own server', async ({ page }) => {
          await page.goto('/');
          await expect(page.locator('h1')).toHaveText('Mine');
        });`),
    });
    const env = {
      PORT: String(port),
      SITE_URL: `http://localhost:${port}`,
      POOLWRIGHT_CHROMIUM: await localChromium(),
    };
    const run = await runPlaywright(consumer, [], env);
    expect(run.code, run.output).toBe(0);
    expect(run.output).toContain('through the emulator of the service');
    expect(run.output).toContain('1 passed');
  });
}
