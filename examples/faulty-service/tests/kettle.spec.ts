import { expect, test } from '@playwright/test';

for (const cup of [1, 2, 3, 4]) {
  test(`the kettle boils for cup ${cup}`, async ({ page }) => {
    await page.goto('/');
    await page.getByRole('button', { name: 'Put the kettle on' }).click();
    await expect(page.getByRole('status')).toHaveText('Ready');
  });
}
