import { expect, test } from '@playwright/test';

for (const tins of [1, 2, 3]) {
  test(`a basket holds ${tins}`, async ({ page }) => {
    await page.goto('/');
    for (let tin = 0; tin < tins; tin++) await page.getByRole('button', { name: 'Add a tin' }).click();
    await expect(page.getByRole('status')).toHaveText(`${tins} in the basket`);
  });
}
