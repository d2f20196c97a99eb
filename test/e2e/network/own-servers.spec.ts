import { expect, test } from '../../support/e2e/fixtures.ts';
import { requires } from '../../support/requires.ts';

/**
 * Unmodified suites that start their servers inside their tests, on browsers that cannot reach this machine's loopback.
 */

test.use({ serviceOptions: { allowLoopback: false } });

/** Each project has a separate browser, because their sessions have different notes. */
const CONFIG = `
import { defineConfig } from '@playwright/test';
import { withHostedBrowsers } from 'poolwright';

export default defineConfig(withHostedBrowsers({
  testDir: './tests',
  reporter: [['list'], ['json']],
  projects: [
    { name: 'auto', grepInvert: /leads/ },
    { name: 'none', grep: /opens/, use: { hosted: { exposeNetwork: 'none', session: { note: 'none' } } } },
    { name: 'foreign', grep: /leads/, use: { hosted: { session: { note: 'foreign' } } } },
  ],
}));
`;

const SUITE = `
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
`;

const FILE_SUITE = `
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
const directory = mkdtempSync(join(tmpdir(), 'fixtures ü-'));
writeFileSync(join(directory, 'page.html'), '<link rel=stylesheet href="a.css"><h1>From here</h1>');
writeFileSync(join(directory, 'a.css'), 'h1 { color: rgb(1, 2, 3) }');
test('opens a file', async ({ page }) => {
  await page.goto(pathToFileURL(join(directory, 'page.html')).href);
  await expect(page.locator('h1')).toHaveCSS('color', 'rgb(1, 2, 3)');
});
`;

test('own servers › and files are reached, but not for a foreign page', { tag: '@versions' }, async ({ runSuite }) => {
  // Without it, the browser reads this machine's files itself.
  requires('unshare');
  const run = await runSuite({
    tests: { own: SUITE, files: FILE_SUITE },
    files: { 'playwright.config.ts': CONFIG },
    args: ['--workers=1'],
    code: 1,
  });
  expect(run.output).toContain('3 passed');
  const { sessions } = await run.record();
  const sessionOf = (name: string) => sessions.find(({ project }) => project === name);
  expect(sessionOf('auto')?.carriedOrigins).toEqual([
    expect.stringMatching(/^file:\/\/\/.*fixtures%20%C3%BC-/),
    expect.stringMatching(/^http:\/\/localhost:\d+$/),
  ]);
  expect(sessionOf('auto')?.bridgedBytes).toBeGreaterThan(0);

  const tests = await run.tests();
  const errorsOf = (name: string) =>
    tests
      .filter(({ project }) => project === name)
      .map(({ results }) => (results.at(-1)?.errors ?? []).map(({ message = '' }) => message));
  expect(errorsOf('auto').flat()).toEqual([]);
  expect(sessionOf('none')?.carriedOrigins).toEqual([]);
  // The cause comes before the error that it has caused.
  const own = expect.stringContaining('net::ERR_');
  expect(errorsOf('none')).toEqual(
    expect.arrayContaining([
      [expect.stringMatching(/http:\/\/localhost:\d+ was not reached: .*`exposeNetwork: /), own],
      [expect.stringMatching(/page\.html was not read: .*`exposeNetwork: '<files>'`/), own],
    ]),
  );
  expect(errorsOf('foreign')).toContainEqual([
    expect.stringMatching(
      /http:\/\/localhost:\d+ was not reached: a page or redirect from elsewhere requested it\. .*`exposeNetwork: 'auto,localhost:\d+'`/,
    ),
    expect.stringContaining('toHaveText'),
  ]);
});
