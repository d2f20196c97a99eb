import { readFile, writeFile } from 'node:fs/promises';
import { expect, test } from '@playwright/test';

const MODULE = new URL('../src/greeting.js', import.meta.url);

test('an edit shows in the page, and what was typed stays', async ({ page }) => {
  const source = await readFile(MODULE, 'utf8');
  const connected = page.waitForEvent('console', (message) => message.text().includes('[vite] connected'));
  await page.goto('/');
  await expect(page.getByRole('heading')).toHaveText('Good morning');
  await expect(page.getByRole('heading')).toHaveCSS('color', 'rgb(0, 100, 0)');
  await page.getByLabel('Your tea').fill('Sencha');
  await connected;
  try {
    await writeFile(MODULE, source.replace('morning', 'evening'));
    await expect(page.getByRole('heading')).toHaveText('Good evening');
    await expect(page.getByLabel('Your tea')).toHaveValue('Sencha');
  } finally {
    await writeFile(MODULE, source);
  }
});
