
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
