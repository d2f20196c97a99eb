import { createHash, randomBytes } from 'node:crypto';
import { expect, test } from '@playwright/test';

test('refuses an order with mistakes, and takes it once they are corrected', async ({ page }) => {
  await page.goto('/order?tea=old-tree');
  await page.getByLabel('Name').fill('Mei');
  await page.getByLabel('E-mail').fill('nowhere');
  await page.getByRole('button', { name: 'Place order' }).click();
  await expect(page.getByRole('alert')).toHaveText('Please correct 1 field.');
  await expect(page.getByLabel('E-mail')).toHaveAttribute('aria-invalid', 'true');

  await page.getByLabel('E-mail').fill('mei@example.com');
  await page.getByRole('button', { name: 'Place order' }).click();
  await expect(page).toHaveURL(/\/orders\/\w+$/);
  await expect(page.getByRole('status')).toContainText('Thank you, Mei.');
});

test('chooses the tin in a popup', async ({ page }) => {
  await page.goto('/order');
  const opening = page.waitForEvent('popup');
  await page.getByRole('button', { name: 'Choose a tin' }).click();
  const popup = await opening;
  await popup.waitForLoadState(); // the page answers a click only once its script has run
  const tin = popup.getByRole('button').last();
  const name = (await tin.textContent()) ?? '';
  // The click closes the popup, so it is made once `evaluate` has returned.
  await Promise.all([popup.waitForEvent('close'), tin.evaluate((button) => void setTimeout(() => button.click()))]);
  await expect(page.getByRole('status', { name: 'Packed in' })).toHaveText(name);
});

test('logs in, sees the account, logs out', async ({ page, context }) => {
  await page.goto('/account');
  await expect(page).toHaveURL(/\/login/);
  await page.getByLabel('E-mail').fill('mei@example.com');
  await page.getByLabel('Password').fill('oolong');
  await page.getByRole('button', { name: 'Log in' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Hello, Mei Tanaka');
  expect((await context.cookies()).map((cookie) => cookie.name)).toContain('tea_visit');

  await page.getByRole('button', { name: 'Log out' }).click();
  await page.goto('/account');
  await expect(page).toHaveURL(/\/login/);
});

test('starts every test as a new visitor', async ({ page, context }) => {
  expect(await context.cookies()).toEqual([]);
  await page.goto('/');
  await expect(page.getByRole('link', { name: 'Log in' })).toBeVisible();
});

test('uploads a picture for a gift card', async ({ page }) => {
  const picture = randomBytes(50_000);
  await page.goto('/gift-card');
  await page.getByLabel('For').fill('Kenji');
  await page.getByLabel('File').setInputFiles({ name: 'cat.png', mimeType: 'image/png', buffer: picture });
  await page.getByRole('button', { name: 'Send' }).click();
  await expect(page.getByTestId('file-name')).toHaveText('cat.png');
  await expect(page.getByTestId('file-size')).toHaveText('50000 bytes');
  await expect(page.getByTestId('file-hash')).toHaveText(createHash('sha256').update(picture).digest('hex'));
});
