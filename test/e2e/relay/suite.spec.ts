import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { TestInfo } from '@playwright/test';
import { checkRelay } from '../../../src/clients/playwright/relay/check-relay.ts';
import type { RunRecord } from '../../../src/record/run-record.ts';
import { selfSigned } from '../../support/cdp/dev-server.ts';
import { PLAYWRIGHTS } from '../../support/e2e/consumer.ts';
import { test as base, expect } from '../../support/e2e/fixtures.ts';
import { startRelay, type TestRelay } from '../../support/e2e/relay.ts';
import { runPlaywright } from '../../support/e2e/run-playwright.ts';
import { suite, wrappedConfig } from '../../support/e2e/suites.ts';

/** Whole runs through a relay. */

const root = resolve(import.meta.dirname, '../../..');

const test = base.extend({ browsers: 'shell' });

const TESTS = suite(`
import { writeFile } from 'node:fs/promises';
test('clicks', async ({ page }) => {
  await page.goto('/');
  await page.setContent('<button onclick="this.textContent = 1">0</button>');
  await page.locator('button').click();
  await expect(page.locator('button')).toHaveText('1');
});
test('uploads and downloads', async ({ page }) => {
  await page.setContent('<input type="file"><a download="a.txt" href="data:text/plain,downloaded">get</a>');
  await page.locator('input').setInputFiles({ name: 'b.txt', mimeType: 'text/plain', buffer: Buffer.from('uploaded') });
  expect(await page.locator('input').evaluate((input: HTMLInputElement) => input.files?.[0]?.text())).toBe('uploaded');
  const [download] = await Promise.all([page.waitForEvent('download'), page.locator('a').click()]);
  let content = '';
  for await (const part of await download.createReadStream()) content += part;
  expect(content).toBe('downloaded');
});
test('uploads a large file', async ({ page }, testInfo) => {
  const file = testInfo.outputPath('large.txt');
  const content = Array.from({ length: 200_000 }, (_, n) => 'line ' + n).join('\\n');
  await writeFile(file, content);
  await page.setContent('<input type="file">');
  await page.locator('input').setInputFiles(file);
  const arrived = await page.locator('input').evaluate((input: HTMLInputElement) => input.files?.[0]?.text());
  expect(arrived === content).toBe(true);
});
test('has only its context', async ({ page, context, browser }) => {
  expect(browser.contexts()).toEqual([context]);
  expect(context.pages()).toEqual([page]);
  expect(context.browser()).toBe(browser);
});
const changed = test.extend({
  context: async ({ context }, use) => {
    await context.addInitScript('window.early = 1');
    await use(context);
  },
});
for (const n of [1, 2]) {
  changed('a page has what its context got before ' + n, async ({ page }) => {
    expect(await page.evaluate('window.early')).toBe(1);
  });
}
`);

test('reports a missing version of Playwright once, before any browser is requested', async ({
  newConsumer,
  service,
}) => {
  const old = await startRelay({ playwright: resolve(root, 'test/e2e/playwright-1.48') });
  const consumer = await newConsumer();
  await consumer.write({ 'playwright.config.ts': wrappedConfig(), 'tests/a.spec.ts': TESTS });
  const run = await runPlaywright(consumer, ['--workers=1'], { ...service.env, ...old.env });
  expect(run.code).toBe(1);
  expect(run.output.match(/has no Playwright \d+\.\d+, only 1\.48/g)).toHaveLength(1);
  expect(run.output).toMatch(/npm install playwright-(\d+\.\d+)@npm:playwright-core@\1/);
  expect(await service.allSessions()).toBe(0);
  expect(await old.stop()).toBe(0);
});

/** Starts a relay that terminates TLS itself; `env` trusts its certificate. */
async function startTlsRelay(playwright: string, testInfo: TestInfo): Promise<TestRelay> {
  const { cert, key } = selfSigned();
  const [certFile, keyFile] = [testInfo.outputPath('cert.pem'), testInfo.outputPath('key.pem')];
  await writeFile(certFile, cert);
  await writeFile(keyFile, key, { mode: 0o600 });
  const relay = await startRelay({ playwright, args: ['--cert', certFile, '--key', keyFile] });
  const { POOLWRIGHT_RELAY: address = '', POOLWRIGHT_RELAY_SECRET: secret } = relay.env;
  const secure = address.replace('ws://127.0.0.1', 'wss://localhost');
  // This process does not trust it; runs begin with this check.
  await expect(checkRelay(secure, '1.65.0', secret)).rejects.toThrow('does not respond');
  return { ...relay, env: { ...relay.env, POOLWRIGHT_RELAY: secure, NODE_EXTRA_CA_CERTS: certFile } };
}

for (const { version, tls, tag } of [
  { version: 'latest', tls: true, tag: ['@versions'] },
  { version: 'oldest', tls: false, tag: ['@versions', '@slow'] },
] as const) {
  test(
    `runs a suite of the ${version} Playwright through a relay${tls ? ' with TLS' : ''}, and leaves nothing`,
    { tag: [...tag] },
    async ({ newConsumer, service, site }, testInfo) => {
      const playwright = resolve(root, PLAYWRIGHTS[version], '../../..');
      const relay = tls ? await startTlsRelay(playwright, testInfo) : await startRelay({ playwright });
      const consumer = await newConsumer(version);
      await consumer.write({
        'playwright.config.ts': wrappedConfig("{ exposeNetwork: 'none' }"),
        'tests/a.spec.ts': TESTS,
      });
      const run = await runPlaywright(consumer, ['--workers=1'], { ...service.env, ...relay.env, SITE_URL: site.url });
      expect(run.code, run.output).toBe(0);
      const record: RunRecord = JSON.parse(await consumer.read('test-results/poolwright/run.json'));
      const [session] = record.sessions;
      expect(record.sessions).toHaveLength(1);
      expect(session?.tests).toHaveLength(6);
      expect(session?.tests[0]?.observedBytes).toBeGreaterThan(0);
      expect(await service.running()).toEqual([]);
      await expect.poll(() => relay.left()).toEqual([]);
      expect(await relay.stop()).toBe(0);
    },
  );
}
