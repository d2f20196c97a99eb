import { expect, test } from '@playwright/test';

test('the account is open, nobody logs in', async ({ page }) => {
  await page.goto('/account');
  await expect(page.getByRole('heading')).toHaveText('Hello, Mei');
});

test('so it is in the next test', async ({ page }) => {
  await page.goto('/account');
  await expect(page.getByRole('heading')).toHaveText('Hello, Mei');
});
