import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '../../support/e2e/fixtures.ts';
import { hostedAttachments, reportedTests, runPlaywright } from '../../support/e2e/run-playwright.ts';
import { ASSET_BYTES } from '../../support/e2e/site.ts';

// identity.spec.ts tests the properties of stealth browsers.
test.use({ browsers: 'shell' });

/** A user's suite: it contains nothing about poolwright. */
const SUITE = `
import { test, expect } from '@playwright/test';
import { readFileSync } from 'node:fs';

test('greets', async ({ page }) => {
  await page.goto('/');
  await page.getByLabel('Name').fill('Ada');
  await page.getByRole('button', { name: 'Greet' }).click();
  await expect(page.getByRole('status')).toHaveText('Hi Ada');
  await expect(page).toHaveTitle('with asset');
});
test('starts without cookies', async ({ context, page }) => {
  expect(await context.cookies()).toEqual([]);
  await page.goto('/');
  expect(await page.evaluate(() => document.cookie)).toBe('visited=yes');
});
test('opens its own context', async ({ browser }) => {
  expect(browser.contexts()).toEqual([]);
  const context = await browser.newContext();
  expect(context.browser()).toBe(browser);
  expect(browser.contexts()).toEqual([context]);
  const page = await browser.newPage();
  await page.goto(process.env.SITE_URL);
  await page.close();
  await context.close();
});
test('downloads', async ({ page }) => {
  await page.goto('/');
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByText('Download').click()]);
  expect(readFileSync(await download.path(), 'utf8')).toBe('from the site');
});
test('uses no browser', async () => {
  expect(1 + 1).toBe(2);
});
`;

const CONFIG = `
import { defineConfig, devices } from '@playwright/test';
import { withHostedBrowsers } from 'poolwright';

export default defineConfig(withHostedBrowsers({
  testDir: './tests',
  reporter: [['list'], ['json'], ['html', { open: 'never' }]],
  use: { baseURL: process.env.SITE_URL, trace: 'on' },
  projects: [
    { name: 'pool', use: { ...devices['Desktop Chrome'] } },
    { name: 'session', use: { hosted: { session: { type: 'hosted_stealth' } } } },
  ],
}, { pool: process.env.POOL, exposeNetwork: '' }));
`;

/** The oldest Playwright runs this suite in every test run; the others, by tag, in `node scripts/versions.mjs`. */
const cases = [
  ['latest', 'commonjs', { tag: '@versions @slow' }],
  ['latest', 'module', { tag: '@versions' }],
  ['oldest', 'commonjs', {}],
] as const;

for (const [version, type, details] of cases) {
  test(
    `an untouched suite › runs on hosted browsers: Playwright ${version}, ${type}`,
    details,
    async ({ newConsumer, service, site }) => {
      const pool = await service.client.createPool({ name: 'e2e', size: 1 });
      const consumer = await newConsumer(version, type);
      await consumer.write({ 'playwright.config.ts': CONFIG, 'tests/site.spec.ts': SUITE });
      // Pages of other tests, which watch all runs of this user, do not find it there.
      const temporary = await mkdtemp(join(tmpdir(), 'pw-'));
      const env = { ...service.env, POOL: pool.id, SITE_URL: site.url, TMPDIR: temporary };
      const run = await runPlaywright(consumer, ['--workers=2'], env);
      await rm(temporary, { recursive: true });
      expect(run.code, run.output).toBe(0);

      const tests = await reportedTests(consumer);
      expect(tests).toHaveLength(10);
      for (const { title, project, results, annotations } of tests) {
        const [attachment, ...more] = hostedAttachments(results[0]);
        expect(more, title).toEqual([]);
        if (title === 'uses no browser') {
          expect(attachment).toBeUndefined();
          continue;
        }
        expect(attachment, title).toMatchObject({ schema: 1, project, infrastructureFailure: null, shard: null });
        expect(annotations).toContainEqual(
          expect.objectContaining({ type: 'hosted-browser', description: attachment?.sessionId }),
        );
        if (project === 'pool') expect(attachment).toMatchObject({ poolId: pool.id, leaseId: expect.any(String) });
        else expect(attachment).toMatchObject({ poolId: null, leaseId: null });
        expect((await service.client.getSession(String(attachment?.sessionId))).status).toBe('completed');
        // The page, its asset and their headers, and nothing of another test.
        if (title === 'greets') {
          expect(attachment?.observedBytes).toBeGreaterThan(ASSET_BYTES);
          expect(attachment?.observedBytes).toBeLessThan(ASSET_BYTES * 1.05);
        }
      }

      const record = JSON.parse(await consumer.read('test-results/poolwright/run.json'));
      expect(record).toMatchObject({ schema: 1, service: 'hosted', leaseFailures: [] });
      expect(
        record.sessions.reduce((sum: number, session: { testsServed: number }) => sum + session.testsServed, 0),
      ).toBe(8);
      for (const session of record.sessions) {
        expect(session).toMatchObject({ endConfirmed: true, endedAt: expect.any(String), pictureBytes: 0 });
        expect(session.bandwidthBytes).toBeGreaterThanOrEqual(session.observedBytes);
      }
      expect(run.output).toContain('poolwright: 8 tests on');
      expect(await service.running()).toEqual([]);
      for (const secret of [service.emulator.apiKey, '/cdp/']) {
        expect(run.output).not.toContain(secret);
        expect(await consumer.read('report.json')).not.toContain(secret);
        expect(await consumer.read('test-results/poolwright/run.json')).not.toContain(secret);
        expect(await consumer.read('test-results/poolwright/broker.log')).not.toContain(secret);
      }
    },
  );
}
