import { expect, test } from '@playwright/test';

test('pages have the time of each tea', async ({ page }) => {
  await page.route('https://tea.example/', (route) =>
    route.fulfill({ contentType: 'text/html', body: '<ul><li data-minutes="2">Sencha</li></ul>' }),
  );
  await page.goto('https://tea.example/');
  await expect(page.getByRole('listitem')).toHaveText('Sencha (2 min)');
});

test('its popup opens', async ({ page }) => {
  await page.goto(`${process.env.EXTENSION_ORIGIN}/popup.html`);
  await expect(page.getByRole('heading')).toHaveText('Tea timer');
});
