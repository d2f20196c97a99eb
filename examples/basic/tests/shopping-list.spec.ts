import { readFileSync } from 'node:fs';
import { expect, type Page, test } from '@playwright/test';

/** The page as its user speaks of it. */
class ShoppingList {
  constructor(private readonly page: Page) {}

  readonly items = () => this.page.getByRole('list', { name: 'Items' }).getByRole('listitem');

  async open(): Promise<void> {
    await this.page.goto('/list');
    await expect(this.page.getByRole('status')).toHaveText(/\d+ items?/);
  }

  async add(text: string): Promise<void> {
    await this.page.getByLabel('New item').fill(text);
    await this.page.getByRole('button', { name: 'Add' }).click();
    await expect(this.items().filter({ hasText: text })).toBeVisible();
  }
}

test('adds, renames and removes', async ({ page }) => {
  const list = new ShoppingList(page);
  await list.open();
  await list.add('Kettle');
  await list.add('Strainer');
  page.once('dialog', (dialog) => dialog.accept('Copper kettle'));
  await page.getByRole('button', { name: 'Rename Kettle' }).click();
  await expect(list.items().first()).toContainText('Copper kettle');
  await page.getByRole('button', { name: 'Remove Strainer' }).click();
  await expect(page.getByRole('status')).toHaveText('1 item');
});

test('asks before it clears the list', async ({ page }) => {
  const list = new ShoppingList(page);
  await list.open();
  await list.add('Cups');
  page.once('dialog', (dialog) => dialog.dismiss());
  await page.getByRole('button', { name: 'Clear the list' }).click();
  await expect(list.items()).toHaveCount(1);
  const asked = page.waitForEvent('dialog');
  const clicked = page.getByRole('button', { name: 'Clear the list' }).click();
  const dialog = await asked;
  expect(dialog.message()).toBe('Remove all 1 items?');
  await dialog.accept();
  await clicked;
  await expect(list.items()).toHaveCount(0);
});

test('saves the list as a file', async ({ page }) => {
  const list = new ShoppingList(page);
  await list.open();
  await list.add('Scales');
  const downloading = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Save as file' }).click();
  const download = await downloading;
  expect(JSON.parse(readFileSync(await download.path(), 'utf8'))).toEqual(['Scales']);
});

test('shows what the server says when it fails', async ({ page }) => {
  await page.route('**/api/list', (route) =>
    route.request().method() === 'POST'
      ? route.fulfill({ status: 409, json: { error: 'a list holds 100 items' } })
      : route.fallback(),
  );
  await page.goto('/list');
  await page.getByLabel('New item').fill('One more');
  await page.getByRole('button', { name: 'Add' }).click();
  await expect(page.getByRole('status')).toHaveText('That did not work: a list holds 100 items');
});
