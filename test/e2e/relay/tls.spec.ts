import { writeFile } from 'node:fs/promises';
import { selfSigned } from '../../support/cdp/dev-server.ts';
import { test as base, expect } from '../../support/e2e/fixtures.ts';
import { startRelay } from '../../support/e2e/relay.ts';
import { runPlaywright } from '../../support/e2e/run-playwright.ts';
import { suite, wrappedConfig } from '../../support/e2e/suites.ts';

/** A relay that terminates TLS itself. */

const test = base.extend({ browsers: 'shell' });

test('serves workers that trust its certificate, and no others', async ({ newConsumer, service, site }, testInfo) => {
  const { cert, key } = selfSigned();
  const [certFile, keyFile] = [testInfo.outputPath('cert.pem'), testInfo.outputPath('key.pem')];
  await writeFile(certFile, cert);
  await writeFile(keyFile, key, { mode: 0o600 });
  const relay = await startRelay({ args: ['--cert', certFile, '--key', keyFile] });
  const address = relay.env.POOLWRIGHT_RELAY?.replace('ws://127.0.0.1', 'wss://localhost') ?? '';
  const env = { ...service.env, ...relay.env, POOLWRIGHT_RELAY: address, SITE_URL: site.url };
  const consumer = await newConsumer();
  await consumer.write({
    'playwright.config.ts': wrappedConfig("{ exposeNetwork: 'none' }"),
    'tests/a.spec.ts': suite(`
test('opens a page', async ({ page }) => {
  await page.setContent('<h1>open</h1>');
  await expect(page.locator('h1')).toHaveText('open');
});`),
  });
  const trusting = await runPlaywright(consumer, ['--workers=1'], { ...env, NODE_EXTRA_CA_CERTS: certFile });
  expect(trusting.code, trusting.output).toBe(0);
  const other = await runPlaywright(consumer, ['--workers=1'], env);
  expect(other.code).toBe(1);
  expect(other.output).toContain('does not respond');
  await expect.poll(() => relay.left()).toEqual([]);
  expect(await relay.stop()).toBe(0);
});
