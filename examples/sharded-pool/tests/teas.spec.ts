import { expect, test } from '@playwright/test';

for (const [tea, minutes] of Object.entries({ Sencha: 2, Assam: 4, Oolong: 3, Rooibos: 7 })) {
  test(`${tea} has its time`, async ({ page }) => {
    await page.goto(`/${tea}`);
    await expect(page.getByRole('heading')).toHaveText(tea);
    await expect(page.getByText(`${minutes} minutes`)).toBeVisible();
  });
}
