import { test } from '../test.ts';

test('setup project saves a storage state', async ({ page }) => {
  await page.goto('/');
  await page.evaluate(() => localStorage.setItem('user', 'Ada'));
  await page.context().storageState({ path: process.env.COMPAT_STATE });
});
