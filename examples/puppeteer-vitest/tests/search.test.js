import { expect, test } from 'poolwright/vitest';
import { inject } from 'vitest';

test('finds a tea as it is typed', async ({ page }) => {
  await page.goto(inject('siteURL'));
  await page.type('aria/Search', 'ool');
  const shown = await page.$$eval('li:not([hidden])', (teas) => teas.map((tea) => tea.textContent));
  expect(shown).toEqual([]); // it minds capitals
  await page.$eval('input', (input) => input.select());
  await page.type('aria/Search', 'Ool');
  expect(await page.$$eval('li:not([hidden])', (teas) => teas.map((tea) => tea.textContent))).toEqual(['Oolong']);
});
