import { expect, test } from '@playwright/test';

/** Makes a pot of it. */
export function testTea(tea: string, minutes: number): void {
  test(`${tea} is ready after its time`, async ({ page }) => {
    await page.goto(`/${tea}`);
    await expect(page.getByRole('heading')).toHaveText(tea);
    await expect(page.getByText(`Ready after ${minutes} minutes`)).toBeVisible();
  });
}
