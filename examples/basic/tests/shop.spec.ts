import { readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';

test('finds a tea by its links', async ({ page }) => {
  await page.goto('/');
  await page.getByRole('link', { name: 'See all teas' }).click();
  await expect(page.getByRole('listitem')).toHaveCount(6);
  await page.getByRole('link', { name: 'Iron Goddess' }).click();
  await expect(page).toHaveURL(/\/teas\/iron-goddess$/);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Iron Goddess');
  await page.getByRole('navigation', { name: 'Breadcrumb' }).getByRole('link', { name: 'Teas' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Teas');
});

test('shows a message when a tea does not exist', async ({ page }) => {
  const response = await page.goto('/teas/earl-plastic');
  expect(response?.status()).toBe(404);
  await expect(page.getByText('We do not know this tea.')).toBeVisible();
});

test('downloads the price list', async ({ page }) => {
  await page.goto('/teas');
  const downloading = page.waitForEvent('download');
  await page.getByRole('link', { name: /Price list/ }).click();
  const download = await downloading;
  expect(download.suggestedFilename()).toBe('price-list.csv');
  expect(readFileSync(await download.path(), 'utf8')).toContain('Iron Goddess');
});

test('shows the garden, about 1 MB of it', async ({ page }) => {
  await page.goto('/garden');
  const picture = page.getByRole('img', { name: /Rows of tea/ });
  await expect(picture).toHaveJSProperty('naturalWidth', 1200);
});

test('waits for a kettle that takes its time', async ({ page }) => {
  // However slow the machine is, the water is not hot before the test has seen it heat.
  let goOn = () => {};
  const seen = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  await page.route('**/api/brew?*', (route) => seen.then(() => route.continue()));
  await page.goto('/brew?tea=morning-mist&delay=800');
  await page.getByRole('button', { name: 'Put the kettle on' }).click();
  await expect(page.getByText('Water is heating')).toBeVisible();
  goOn();
  await expect(page.getByRole('status')).toHaveText('Morning Mist is ready: 2 min at 70 °C.');
  await expect(page.getByText('Water is heating')).toBeHidden();
});

test('books a table in a frame', async ({ page }) => {
  await page.goto('/visit');
  const frame = page.frameLocator('iframe[title="Book a table"]');
  await frame.getByLabel('Day').selectOption('Saturday');
  await frame.getByLabel('Guests').fill('4');
  await frame.getByRole('button', { name: 'Book' }).click();
  await expect(frame.getByRole('status')).toHaveText('Table for 4 on Saturday is yours.');
});

test('keeps the look over a reload', async ({ page }) => {
  await page.goto('/');
  await page.getByLabel('Look').selectOption('dark');
  await page.reload();
  await expect(page.locator('html')).toHaveAttribute('data-look', 'dark');
});
