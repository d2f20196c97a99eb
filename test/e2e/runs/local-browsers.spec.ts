import { expect, test } from '../../support/e2e/fixtures.ts';
import { localChromium } from '../../support/local-chromium.ts';

/** What a run says about tests and global setups that do not use hosted browsers. */

test.use({ browsers: 'stub' });

test('browsers that the code starts › are named once by the run, with their places', async ({ runSuite, service }) => {
  const launch = JSON.stringify({ executablePath: await localChromium(), args: ['--no-sandbox'] });
  const run = await runSuite({
    config: "globalSetup: './global-setup.ts', workers: 1,",
    tests: {
      hosted: `test('hosted', async ({ page }) => { await page.goto('about:blank'); });`,
      own: `import { chromium, expect, test as base } from '@playwright/test';
        const test = base.extend({ own: async ({ playwright }, use) => {
          const browser = await playwright.chromium.launch(${launch});
          await use(browser);
          await browser.close();
        } });
        test('a fixture', async ({ own }) => { expect(own.isConnected()).toBe(true); });
        test.describe('a hook', () => {
          let browser;
          test.beforeAll(async () => { browser = await chromium.launch(${launch}); });
          test.afterAll(async () => { await browser.close(); });
          test('first', () => { expect(browser.isConnected()).toBe(true); });
          test('second', () => { expect(browser.isConnected()).toBe(true); });
        });
        test('a profile', async ({}, testInfo) => {
          const context = await chromium.launchPersistentContext(testInfo.outputPath('profile'), ${launch});
          await context.close();
        });`,
    },
    files: {
      'global-setup.ts': `import { chromium } from '@playwright/test';
        import { leaseBrowser } from 'poolwright/playwright-library';
        export default async () => {
          for (let n = 0; n < 2; n++) await (await chromium.launch(${launch})).close();
          const { browser, session, release } = await leaseBrowser();
          await (await browser.newPage()).goto('about:blank');
          console.log('leased ' + session.sessionId);
          await release();
        };`,
    },
  });
  const said = run.output.split('\n').filter((line) => line.includes('on a browser of this machine'));
  expect(said).toEqual([
    expect.stringContaining(
      'not a hosted one: chromium.launch() at global-setup.ts:4. A global setup leases one with `leaseBrowser`: see',
    ),
    expect.stringMatching(
      /not a hosted one: chromium\.launch\(\) at tests\/own\.spec\.ts:3 and 2 more\. Without `channel`,/,
    ),
  ]);
  const annotated = (await run.tests()).map(({ title, annotations }) => [
    title,
    ...annotations.filter(({ type }) => type === 'local-browser').map(({ description }) => description),
  ]);
  expect(Object.fromEntries(annotated.map(([title, ...calls]) => [title, calls]))).toEqual({
    hosted: [],
    'a fixture': ['chromium.launch() at tests/own.spec.ts:3'],
    first: ['chromium.launch() at tests/own.spec.ts:10'],
    // Annotations of a hook are those of all its tests.
    second: ['chromium.launch() at tests/own.spec.ts:10'],
    'a profile': ['chromium.launchPersistentContext() at tests/own.spec.ts:16'],
  });
  expect(run.output).toMatch(/^leased ses_/m);
  expect(await service.running()).toEqual([]);
});

test('a run without hosted projects › names its local browsers', { tag: '@slow' }, async ({ runSuite, service }) => {
  const tests = `test('needs no page', () => {});`;
  const config = "use: { browserName: 'webkit' }, projects: [{ name: 'fox', use: { browserName: 'firefox' } }, {}],";
  const { output } = await runSuite({ config, tests });
  expect(output.match(/^poolwright: .*/gm)).toEqual(['poolwright: on local browsers: fox, webkit']);
  expect(await service.allSessions()).toBe(0);
});

// projects.spec.ts selects a local project.
test('--browser › selects a local browser, which the run names', async ({ runSuite, service }) => {
  const flag = await runSuite({
    tests: `test('a page', async ({ page }) => { await page.goto('about:blank'); });`,
    args: ['--browser=firefox'],
    env: { PLAYWRIGHT_BROWSERS_PATH: '/nowhere' },
    code: 1,
  });
  expect(flag.output).toContain('poolwright: on local browsers: firefox\n');
  expect(flag.output).toContain("Executable doesn't exist");
  expect(await service.allSessions()).toBe(0);
});
