import { test as base } from '@playwright/test';
import { expect, test as hosted, mergeTests } from 'poolwright';

/** A team's own fixtures, as they were before. */
const team = base.extend<{ tea: string }>({ tea: 'Morning Mist' });

const test = mergeTests(team, hosted);

test('knows the session it runs on', async ({ page, hostedSession, tea }) => {
  await page.goto('/teas');
  await expect(page.getByRole('link', { name: tea })).toBeVisible();
  expect(hostedSession.sessionId).not.toBe('');
  expect(hostedSession.leaseId).toBeNull(); // created, not leased
});

test('has time left', async ({ hostedSession }) => {
  // `duration: 600` in the config: what a long test may want to know before it starts.
  const left = Date.parse(hostedSession.expiresAt ?? '') - Date.now();
  expect(left).toBeGreaterThan(0);
  expect(left).toBeLessThanOrEqual(600_000);
});
