/**
 * Tools that drive Chrome, each as its users run it. `packages`: what it is installed with, the tool itself first;
 * `files` and `command`: what it runs, in a shell; `browsers`: how many it needs; `prints`: what else shows that it has
 * done its work; `on`: other browsers than sessions; `but`: what differs from a local browser; `cannot`: why it does
 * not work. The command has the address of a site in `SITE_URL`.
 */

/** A script with a library that has pages. */
const visit = (open, wait) => `${open}
const page = await browser.newPage();
await page.goto(process.env.SITE_URL, { waitUntil: '${wait}' });
await browser.close();
`;
const playwright = (name, expression) => ({
  name: `Playwright, ${name}`,
  packages: ['playwright'],
  command: 'node tool.mjs',
  files: {
    'tool.mjs': visit(
      `import { chromium } from 'playwright';
const browser = await chromium.${expression};`,
      'networkidle',
    ),
  },
  browsers: 1,
});
const puppeteer = (name, expression) => ({
  name: `Puppeteer, ${name}`,
  packages: ['puppeteer'],
  command: 'node tool.mjs',
  files: {
    'tool.mjs': visit(
      `import puppeteer from 'puppeteer';
const browser = await puppeteer.${expression};`,
      'networkidle0',
    ),
  },
  browsers: 1,
});
/** In a page of a test runner's own server. */
const REPORT = (site) =>
  `fetch(${site} + '/seen?zone=' + Intl.DateTimeFormat().resolvedOptions().timeZone, { mode: 'no-cors' })`;

export const TOOLS = [
  playwright('`launch()`, a pipe', 'launch({ executablePath: process.env.CHROME_PATH })'),
  {
    ...playwright('`launch()`, a pipe, and a port for others', ''),
    files: {
      'tool.mjs': visit(
        `import { once } from 'node:events';
import { createServer } from 'node:net';
import { chromium } from 'playwright';
const server = createServer().listen(0, '127.0.0.1');
await once(server, 'listening');
const { port } = server.address();
server.close();
await once(server, 'close');
const browser = await chromium.launch({
  executablePath: process.env.CHROME_PATH,
  args: ['--remote-debugging-port=' + port],
});
await fetch('http://127.0.0.1:' + port + '/json/version');`,
        'networkidle',
      ),
    },
  },
  playwright('`connectOverCDP()`', 'connectOverCDP(process.env.POOLWRIGHT_ENDPOINT)'),
  {
    ...playwright('`connect()`', "connect(process.env.POOLWRIGHT_ENDPOINT + '/playwright')"),
    but: 'the version of Playwright beside poolwright must be the same',
  },
  puppeteer('`launch()`, a pipe', 'launch({ pipe: true })'),
  puppeteer('`launch()`, a port', 'launch()'),
  puppeteer('`connect()`', 'connect({ browserWSEndpoint: process.env.POOLWRIGHT_ENDPOINT })'),
  {
    name: 'Selenium, ChromeDriver',
    packages: ['selenium-webdriver'],
    files: {
      'tool.mjs': `import { Builder, until } from 'selenium-webdriver';
import chrome from 'selenium-webdriver/chrome.js';
const options = new chrome.Options().setBinaryPath(process.env.CHROME_PATH);
const driver = await new Builder()
  .forBrowser('chrome')
  .setChromeOptions(options)
  .setChromeService(new chrome.ServiceBuilder('chromedriver'))
  .build();
await driver.get(process.env.SITE_URL);
await driver.wait(until.titleIs('seen'), 10_000);
await driver.quit();
`,
    },
    command: 'node tool.mjs',
    but: "ChromeDriver must have the hosted Chromium's version",
    browsers: 1,
  },
  {
    name: 'Lighthouse',
    packages: ['lighthouse'],
    command: 'lighthouse $SITE_URL --quiet --chrome-flags=--headless --output=json | grep finalDisplayedUrl',
    prints: /finalDisplayedUrl/,
    but: 'a local site is measured with the way from the hosted browser to this machine',
    browsers: 1,
  },
  {
    name: 'Lighthouse CI, three runs',
    packages: ['@lhci/cli'],
    files: {
      'lighthouserc.json': JSON.stringify({
        ci: { assert: { assertions: { 'is-on-https': 'off', 'document-title': 'error' } } },
      }),
    },
    command: 'lhci collect --url=$SITE_URL --numberOfRuns=3 && lhci assert',
    prints: /All results processed!/,
    browsers: 3,
  },
  {
    name: 'Storybook, test runner',
    packages: ['storybook', '@storybook/html-vite', '@storybook/test-runner', 'vite', 'playwright'],
    files: {
      '.storybook/main.js': `export default {
  framework: '@storybook/html-vite',
  stories: ['../*.stories.js'],
  core: { disableTelemetry: true, disableWhatsNewNotifications: true },
};`,
      'button.stories.js': `export default { title: 'Button', render: () => '<button>Greet</button>' };
export const Plain = { play: () => ${REPORT("''")} };`,
      'test-runner-jest.config.js': `import { getJestConfig } from '@storybook/test-runner';
const config = getJestConfig();
config.testEnvironmentOptions['jest-playwright'].launchOptions = { executablePath: process.env.CHROME_PATH };
export default config;`,
      'package.json': '{ "type": "module" }',
    },
    // The site serves it.
    command: 'storybook build --output-dir=public --quiet && test-storybook --url=$SITE_URL',
    prints: /1 passed/,
    browsers: 1,
  },
  {
    name: 'Vitest, browser mode',
    packages: ['vitest@4', 'vite', '@vitest/browser-playwright@4', 'playwright'],
    files: {
      'vitest.config.mjs': `import { playwright } from '@vitest/browser-playwright';
import { defineConfig } from 'vitest/config';
export default defineConfig({
  define: { SITE_URL: JSON.stringify(process.env.SITE_URL) },
  test: {
    browser: {
      enabled: true,
      headless: true,
      provider: playwright({ launchOptions: { executablePath: process.env.CHROME_PATH } }),
      instances: [{ browser: 'chromium' }],
    },
  },
});`,
      'tool.test.js': `import { expect, test } from 'vitest';
test('a page', async () => {
  await ${REPORT('SITE_URL')};
  expect(document.querySelector('body')).not.toBeNull();
});`,
    },
    command: 'vitest run',
    prints: /Tests +1 passed/,
    browsers: 1,
  },
  {
    name: '`@playwright/mcp`',
    packages: ['@playwright/mcp', '@modelcontextprotocol/sdk'],
    files: {
      'tool.mjs': `import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
const client = new Client({ name: 'agent', version: '1.0.0' });
await client.connect(
  new StdioClientTransport({ command: 'playwright-mcp', args: ['--headless'], env: process.env }),
);
const call = async (name, args = {}) => console.log(JSON.stringify(await client.callTool({ name, arguments: args })));
await call('browser_navigate', { url: process.env.SITE_URL });
await call('browser_wait_for', { text: 'seen' });
await call('browser_close');
await client.close();
`,
    },
    command: 'node tool.mjs',
    prints: /Page Title: seen/,
    browsers: 1,
  },
  {
    name: 'pa11y',
    packages: ['pa11y'],
    on: 'a pool',
    command: 'pa11y $SITE_URL',
    prints: /No issues found!/,
    browsers: 1,
  },
  {
    name: 'Karma',
    packages: ['karma', 'karma-chrome-launcher', 'karma-jasmine', 'jasmine-core'],
    files: {
      'karma.conf.cjs': `module.exports = (config) =>
  config.set({
    frameworks: ['jasmine'],
    plugins: [require('karma-jasmine'), require('karma-chrome-launcher')],
    browsers: ['ChromeHeadless'],
    files: ['tool.js'],
    client: { site: process.env.SITE_URL },
    singleRun: true,
  });`,
      'tool.js': `it('runs in a page', () => ${REPORT('__karma__.config.site')});`,
    },
    command: 'karma start karma.conf.cjs',
    prints: /Executed 1 of 1 SUCCESS/,
    browsers: 1,
  },
  {
    name: '`chrome-remote-interface`',
    packages: ['chrome-remote-interface'],
    on: 'own browsers',
    files: {
      'tool.mjs': `import CDP from 'chrome-remote-interface';
const client = await CDP({ port: Number(process.argv[2]) });
const { Network, Page } = client;
await Network.enable();
await Page.enable();
const seen = new Promise((resolve) => Network.responseReceived(({ response }) => response.url.includes('seen') && resolve()));
await Page.navigate({ url: process.env.SITE_URL });
await seen;
await client.close();
`,
    },
    command: 'node tool.mjs {port}',
    browsers: 1,
  },
  {
    name: '`chromium --dump-dom`, `--screenshot`, `--print-to-pdf`',
    packages: [],
    command: '$CHROME_PATH --headless --dump-dom $SITE_URL',
    prints: /cannot do `--dump-dom`/,
    cannot: 'no tool connects to the browser: the program refuses it',
    browsers: 0,
  },
];
