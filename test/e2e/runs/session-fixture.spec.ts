import { expect, test } from '../../support/e2e/fixtures.ts';
import { hostedAttachments, reportedTests, runPlaywright } from '../../support/e2e/run-playwright.ts';
import { wrappedConfig } from '../../support/e2e/suites.ts';
import { slowIf } from '../../support/property-runs.ts';

const UNWRAPPED = `
import { defineConfig } from '@playwright/test';
import type { HostedWorkerOptions } from 'poolwright';
export default defineConfig<{}, HostedWorkerOptions>({
  testDir: './tests',
  reporter: [['list'], ['json']],
  use: { baseURL: process.env.SITE_URL, hosted: { session: { note: 'mine' } } },
});
`;

const SUITE = `
import { test as base } from '@playwright/test';
import { expect, mergeTests, test as hosted } from 'poolwright';
const test = mergeTests(base.extend({ greeting: 'Hi' }), hosted);

test('has the session', async ({ page, hostedSession, greeting }) => {
  await page.goto('/');
  expect(greeting).toBe('Hi');
  console.log('SESSION ' + JSON.stringify(hostedSession));
});
hosted('needs no page', async ({ hostedSession }) => { expect(hostedSession.reused).toBe(false); });
hosted.describe('with its own contextOptions', () => {
  hosted.use({ contextOptions: { reducedMotion: 'reduce' } });
  hosted('is recorded too', async ({ page }) => {
    await page.goto('/');
    expect(await page.evaluate(() => matchMedia('(prefers-reduced-motion)').matches)).toBe(true);
  });
});
hosted.describe('a page that a file shares', () => {
  let shared;
  hosted.beforeAll(async ({ browser }) => { shared = await browser.newPage(); });
  hosted('first', async () => { await shared.goto(process.env.SITE_URL); });
  hosted('second', async () => { await shared.reload(); });
  hosted.afterAll(async () => { await shared.close(); });
});
`;

for (const [name, config] of [
  ['without the wrapper', UNWRAPPED],
  ['with it', wrappedConfig(`{ session: { note: 'mine' } }`)],
] as const) {
  test(`hostedSession › is provided in poolwright's test ${name}`, {
    tag: ['@versions', ...slowIf(name === 'with it').tag],
  }, async ({ newConsumer, service, site }) => {
    const consumer = await newConsumer();
    await consumer.write({ 'playwright.config.ts': config, 'tests/a.spec.ts': SUITE });
    const run = await runPlaywright(consumer, ['--workers=1'], { ...service.env, SITE_URL: site.url });
    expect(run.code, run.output).toBe(0);

    const session = JSON.parse(/SESSION (.*)/.exec(run.output)?.[1] ?? '{}');
    expect(session).toMatchObject({ leaseId: null, poolId: null, reused: false });
    expect(Object.keys(session)).not.toContain('cdpUrl');
    const { note, status } = await service.client.getSession(session.sessionId);
    expect(note).toMatch(
      /^mine poolwright run=\S+ shard=1\/1 project=default slot=0 req=\S+ suite=[0-9a-f]{6} beat=\w+$/,
    );
    await expect.poll(() => service.running()).toEqual([]);
    expect(['active', 'completed']).toContain(status);

    const tests = await reportedTests(consumer);
    expect(tests).toHaveLength(5);
    for (const { title, results } of tests) {
      const attachments = hostedAttachments(results[0]);
      expect(attachments, title).toHaveLength(1);
      expect(attachments[0]?.sessionId, title).toBe(session.sessionId);
    }
  });
}
