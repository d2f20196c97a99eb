import { expect, test } from '@playwright/test';

test('a plain test beside it runs on the same browser', async ({ page }) => {
  await page.goto('/');
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(/Tea, picked slowly/);
});
