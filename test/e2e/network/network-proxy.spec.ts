import { startDevServer } from '../../support/cdp/dev-server.ts';
import { expect, test } from '../../support/e2e/fixtures.ts';
import { reportedTests, runPlaywright } from '../../support/e2e/run-playwright.ts';
import { startService } from '../../support/e2e/service.ts';
import { suite, wrappedConfig } from '../../support/e2e/suites.ts';
import { freePort } from '../../support/free-port.ts';
import { localChromium } from '../../support/local-chromium.ts';

/** The service's browsers cannot reach this machine's loopback, where the suite's own server runs. */

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
test('a self-signed certificate', async ({ browser }) => {
  const context = await browser.newContext({ ignoreHTTPSErrors: true });
  const page = await context.newPage();
  await page.goto(process.env.SECURE_URL);
  await expect(page.locator('h1')).toHaveText('Dev');
  await context.close();
});
`;

const config = (elsewhere: number) => `
import { defineConfig } from '@playwright/test';
import { withHostedBrowsers } from 'poolwright';

export default defineConfig(withHostedBrowsers({
  testDir: './tests',
  reporter: [['list'], ['json']],
  use: { baseURL: process.env.SITE_URL, trace: 'on' },
  projects: [
    { name: 'auto' },
    { name: 'off', grep: /reaches|refused/, use: { hosted: { exposeNetwork: '' } } },
    { name: 'elsewhere', grep: /reaches|certificate/, use: { userAgent: 'elsewhere', hosted: { exposeNetwork: 'localhost:${elsewhere}' } } },
  ],
}));
`;

test("exposeNetwork › reaches the suite's local server only where it allows it", {
  tag: ['@versions', '@slow'],
}, async ({ newConsumer }) => {
  const [service, dev, secure] = await Promise.all([
    startService({ allowLoopback: false }),
    startDevServer(),
    startDevServer({ secure: true }),
  ]);
  try {
    const consumer = await newConsumer();
    await consumer.write({ 'playwright.config.ts': config(secure.port), 'tests/dev.spec.ts': SUITE });
    const env = { ...service.env, SITE_URL: dev.url, SECURE_URL: secure.url };
    const run = await runPlaywright(consumer, ['--workers=1'], env);
    const tests = await reportedTests(consumer);
    const failed = tests.filter(({ results }) => results[0]?.status !== 'passed');
    expect(tests).toHaveLength(9);
    expect(failed.map(({ project, title }) => `${project}: ${title}`)).toEqual([
      'off: reaches the suite server',
      'elsewhere: reaches the suite server',
    ]);
    expect(run.output).toContain('net::ERR_');
    // Once per project, however many requests and tests there are.
    const hints = run.output.match(/poolwright: .* was not reached: .*/g);
    expect(hints, run.output).toEqual(
      ['off', 'elsewhere'].map((name) => expect.stringContaining(`project "${name}": ${dev.url} was not reached`)),
    );
    for (const hint of hints ?? []) expect(hint).toContain("`exposeNetwork: '<loopback>'`");
    expect(dev.requests.filter(({ headers }) => headers['user-agent'] === 'elsewhere')).toEqual([]);
    expect(await service.running()).toEqual([]);
  } finally {
    await Promise.all([service.stop(), dev.close(), secure.close()]);
  }
});

const SERVER = `
import { createServer } from 'node:http';
createServer((request, response) => response.setHeader('content-type', 'text/html').end('<h1>Mine</h1>'))
  .listen(Number(process.env.PORT), '127.0.0.1');
`;

test('exposeNetwork › reaches a `webServer` from the embedded emulator', { tag: '@versions' }, async ({
  newConsumer,
}) => {
  const port = await freePort();
  const consumer = await newConsumer();
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
  expect(run.output).toContain('through the emulator (');
  expect(run.output).toContain('1 passed');
});
