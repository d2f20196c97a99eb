import type { RunRecord } from '../../../src/record/run-record.ts';
import { test as base, expect } from '../../support/e2e/fixtures.ts';
import { startRelay, type TestRelay } from '../../support/e2e/relay.ts';
import { runPlaywright } from '../../support/e2e/run-playwright.ts';
import { startService, type TestService } from '../../support/e2e/service.ts';
import { suite, wrappedConfig } from '../../support/e2e/suites.ts';

/** Servers of the test machine, for browsers that cannot reach them. */

const test = base.extend<{ relay: TestRelay; service: TestService }>({
  service: async ({}, use) => {
    const service = await startService({ allowLoopback: false });
    await use(service);
    await service.stop();
  },
  relay: async ({}, use) => {
    const relay = await startRelay();
    await use(relay);
    await relay.stop();
  },
});

const TESTS = suite(`
import { createServer } from 'node:http';
const start = async (text: string) => {
  const server = createServer((_request, response) => response.end(text));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return { url: 'http://127.0.0.1:' + (server.address() as { port: number }).port, stop: () => server.close() };
};
test('visits a server', async ({ page }) => {
  const [visited, other] = await Promise.all([start('visited'), start('other')]);
  await page.goto(visited.url);
  await expect(page.locator('body')).toHaveText('visited');
  const reaches = () =>
    page.evaluate((url) => fetch(url, { mode: 'no-cors' }).then(() => true, () => false), other.url);
  expect(await reaches()).toBe(true);
  await page.route('http://foreign.test/', (route) => route.fulfill({ body: 'foreign' }));
  await page.goto('http://foreign.test/');
  expect(await reaches()).toBe(false);
  for (const { stop } of [visited, other]) stop();
});
test('requests of the test itself', async ({ page, context }) => {
  const target = await start('target');
  const redirect = createServer((_request, response) => response.writeHead(302, { location: target.url }).end());
  await new Promise<void>((done) => redirect.listen(0, '127.0.0.1', done));
  const through = 'http://localhost:' + (redirect.address() as { port: number }).port;
  for (const url of [target.url, through]) expect(await (await page.request.get(url)).text()).toBe('target');
  const sent = await context.request.post(target.url, { data: 'x'.repeat(300_000) });
  expect(sent.status()).toBe(200);
  await page.route('http://example.test/', async (route) => {
    const response = await route.fetch({ url: target.url });
    await route.fulfill({ response });
  });
  await page.goto('http://example.test/');
  await expect(page.locator('body')).toHaveText('target');
  target.stop();
  redirect.close();
  await expect(page.request.get(target.url)).rejects.toThrow();
});
test('a file of this machine', async ({ page }) => {
  const reason = 'a relay does not reach file: pages of your machine: serve the directory over HTTP';
  await expect(page.goto('file:///page.html')).rejects.toThrow(reason);
});
`);

test('reaches local servers through a relay for pages that a test visits, and no others', async ({
  newConsumer,
  relay,
  service,
}) => {
  const consumer = await newConsumer();
  await consumer.write({ 'playwright.config.ts': wrappedConfig(), 'tests/a.spec.ts': TESTS });
  const run = await runPlaywright(consumer, ['--workers=1'], { ...service.env, ...relay.env });
  expect(run.code, run.output).toBe(0);
  const record: RunRecord = JSON.parse(await consumer.read('test-results/poolwright/run.json'));
  const [session] = record.sessions;
  // What the test itself requests does not count.
  expect(session?.tests).toMatchObject([{ proxiedBytes: session?.bridgedBytes }, { proxiedBytes: 0 }, {}]);
  expect(session?.bridgedBytes).toBeGreaterThan(200);
  const origin = expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect(record.sessions[0]?.carriedOrigins).toEqual([origin, origin]);
});
