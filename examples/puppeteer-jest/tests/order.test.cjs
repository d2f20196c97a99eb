const { openSite } = require('./open-site.cjs');

let site;
beforeAll(async () => {
  site = await openSite();
  await page.goto(`${site.url}/order?tea=old-tree`);
});
afterAll(() => site.close());

// The tests of a file share its page, as with jest-puppeteer.
test('refuses an order with mistakes', async () => {
  await page.locator('::-p-aria([name="Name"][role="textbox"])').fill('Mei');
  await page.locator('::-p-aria([name="E-mail"][role="textbox"])').fill('nowhere');
  await page.locator('::-p-aria([name="Place order"][role="button"])').click();
  const alert = await page.waitForSelector('::-p-aria([role="alert"])');
  expect(await alert.evaluate((node) => node.textContent)).toBe('Please correct 1 field.');
});

test('takes it once they are corrected', async () => {
  await page.locator('::-p-aria([name="E-mail"][role="textbox"])').fill('mei@example.com');
  await Promise.all([page.waitForNavigation(), page.locator('::-p-aria([name="Place order"][role="button"])').click()]);
  expect(page.url()).toMatch(/\/orders\/\w+$/);
});
