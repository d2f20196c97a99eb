import { expect, test } from 'poolwright/vitest';
import { inject } from 'vitest';

test('knows the browser it runs on', async ({ page, hostedSession }) => {
  await page.goto(inject('siteURL'));
  expect(await page.title()).toBe('Tea house');
  expect(hostedSession.sessionId).not.toBe('');
});
