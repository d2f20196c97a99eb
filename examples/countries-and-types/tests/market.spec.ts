import { expect, test } from '@playwright/test';
import type { MARKETS } from '../markets.ts';

test('a visitor sees the price as it is written at home', async ({ page }) => {
  const market = test.info().project.metadata as (typeof MARKETS)[number];
  await page.goto('/');
  await expect(page.getByTestId('price')).toHaveText(market.price);
  await expect(page.getByTestId('zone')).toHaveText(market.zone);
});
