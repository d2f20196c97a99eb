import { expect, test } from '../../support/e2e/fixtures.ts';

/** Browsers that tests and fixtures launch themselves. */

test.use({ browsers: 'shell' });

test('launch() and launchPersistentContext() › get hosted browsers', async ({ runSuite, service, site }) => {
  const run = await runSuite({
    config: 'workers: 1,',
    tests: `import { chromium, expect, test as base } from '@playwright/test';
      const open = async (page) => { await page.goto(process.env.SITE_URL); return await page.title(); };
      const test = base.extend({
        launched: [async ({ playwright }, use) => {
          const browser = await playwright.chromium.launch();
          await use(browser);
          await browser.close();
        }, { scope: 'worker' }],
      });
      test('in a fixture', async ({ launched }) => {
        expect(await open(await launched.newPage())).toBeTruthy();
      });
      test('in a test, beside page', async ({ page }) => {
        const browser = await chromium.launch();
        expect(await open(page)).toBe(await open(await browser.newPage()));
        await browser.close();
      });
      test('a profile', async ({}, testInfo) => {
        const context = await chromium.launchPersistentContext(testInfo.outputPath('profile'));
        expect(await open(context.pages()[0])).toBeTruthy();
        await context.close();
      });
      test('two, which are not closed', async () => {
        const browsers = await Promise.all([chromium.launch(), chromium.launch()]);
        for (const each of browsers) await open(await each.newPage());
      });
      test('a server', async () => {
        const server = await chromium.launchServer();
        const browser = await chromium.connect(server.wsEndpoint());
        expect(await open(await browser.newPage())).toBeTruthy();
        await server.close();
      });`,
  });
  console.log(run.output, JSON.stringify(await run.record(), null, 1));
  expect(await service.running()).toEqual([]);
});
