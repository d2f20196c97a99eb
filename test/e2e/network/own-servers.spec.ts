import { runRecord } from '../../../src/record/run-record.ts';
import { type Consumer, PLAYWRIGHTS, type PlaywrightVersion } from '../../support/e2e/consumer.ts';
import { expect, test } from '../../support/e2e/fixtures.ts';
import { reportedTests, runPlaywright } from '../../support/e2e/run-playwright.ts';
import { startService } from '../../support/e2e/service.ts';
import { suite } from '../../support/e2e/suites.ts';

/** Suites that start their servers inside their tests, untouched, on browsers that do not reach this machine's loopback. */

const CONFIG = `
import { defineConfig } from '@playwright/test';
import { withHostedBrowsers } from 'poolwright';

export default defineConfig(withHostedBrowsers({
  testDir: './tests',
  reporter: [['list'], ['json']],
}, JSON.parse(process.env.OPTIONS ?? '{}')));
`;

const SUITE = suite(`
import { createServer } from 'node:http';
let server, url;
test.beforeAll(async () => {
  server = createServer((request, response) => {
    if (request.url === '/data') return response.end(request.headers.cookie ?? 'no cookie');
    if (request.url === '/away') return response.writeHead(302, { location: '/' }).end();
    response.setHeader('set-cookie', 'a=1').setHeader('content-type', 'text/html');
    response.end('<title>Own</title><h1>Own</h1><a href="/away">away</a><script>fetch("/data").then((answer) => answer.text()).then((text) => { document.title = text })</script>');
  });
  await new Promise((resolve) => server.listen(0, resolve));
  url = 'http://localhost:' + server.address().port;
});
test.afterAll(() => server.close());

test('opens it', async ({ page }) => {
  await page.goto(url);
  await expect(page.locator('h1')).toHaveText('Own');
  await expect(page).toHaveTitle('a=1');
  await page.click('a');
  await expect(page).toHaveURL(url + '/');
});
test('is where a page leads', async ({ page }) => {
  await page.setContent('<iframe src="' + url + '"></iframe>');
  await expect(page.frameLocator('iframe').locator('h1')).toHaveText('Own', { timeout: 5_000 });
});
test('asks it from the test too', async ({ page, request }) => {
  expect(await (await request.get(url + '/data')).text()).toBe('no cookie');
  await page.goto(url);
  expect(await (await page.request.get(url + '/data')).text()).toBe('a=1');
});
`);

async function recordOf(consumer: Consumer) {
  return runRecord.parse(JSON.parse(await consumer.read('test-results/poolwright/run.json')));
}

const FILE_SUITE = suite(`
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
const folder = mkdtempSync(join(tmpdir(), 'fixtures ü-'));
writeFileSync(join(folder, 'page.html'), '<link rel=stylesheet href="a.css"><h1>From here</h1>');
writeFileSync(join(folder, 'a.css'), 'h1 { color: rgb(1, 2, 3) }');
test('opens a file', async ({ page }) => {
  await page.goto(pathToFileURL(join(folder, 'page.html')).href);
  await expect(page.locator('h1')).toHaveCSS('color', 'rgb(1, 2, 3)');
});
`);

for (const version of Object.keys(PLAYWRIGHTS) as PlaywrightVersion[]) {
  test(`a suite that starts its own server: Playwright ${version}`, async ({ newConsumer }) => {
    const service = await startService({ allowLoopback: false });
    try {
      const consumer = await newConsumer(version);
      await consumer.write({
        'playwright.config.ts': CONFIG,
        'tests/own.spec.ts': SUITE,
        'tests/files.spec.ts': FILE_SUITE,
      });
      const run = await runPlaywright(consumer, ['--workers=1', '--grep-invert=leads'], service.env);
      expect(run.code, run.output).toBe(0);
      expect(run.output).toContain('3 passed');
      const [session] = (await recordOf(consumer)).sessions;
      expect(session?.carriedOrigins).toEqual([
        expect.stringMatching(/^file:\/\/\/.*fixtures%20%C3%BC-/),
        expect.stringMatching(/^http:\/\/localhost:\d+$/),
      ]);
      expect(session?.bridgedBytes).toBeGreaterThan(0);

      const off = await runPlaywright(consumer, ['--workers=1', '--grep=opens'], {
        ...service.env,
        OPTIONS: '{"exposeNetwork":"none"}',
      });
      expect(off.code).toBe(1);
      expect(off.output).toContain('net::ERR_');
      expect((await recordOf(consumer)).sessions[0]?.carriedOrigins).toEqual([]);
      const errors = (await reportedTests(consumer)).flatMap(({ results }) => results.at(-1)?.errors ?? []);
      const texts = errors.map(({ message = '' }) => message);
      expect(texts).toContainEqual(expect.stringMatching(/http:\/\/localhost:\d+ was not reached: .*`exposeNetwork: /));
      expect(texts).toContainEqual(expect.stringMatching(/page\.html was not read: .*`exposeNetwork: '<files>'`/));

      const foreign = await runPlaywright(consumer, ['--workers=1', '--grep=leads'], service.env);
      expect(foreign.code).toBe(1);
      const [first] = (await reportedTests(consumer)).flatMap(({ results }) => results);
      expect(first?.errors.map(({ message }) => message)).toContainEqual(
        expect.stringMatching(
          /http:\/\/localhost:\d+ was not reached: a page, .*`exposeNetwork: 'auto,localhost:\d+'`/,
        ),
      );
    } finally {
      await service.stop();
    }
  });
}
