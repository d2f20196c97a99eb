import type { CDPSession, Page } from '@playwright/test';
import type { DevServer } from '../../support/cdp/dev-server.ts';
import { expect, LISTED, test } from '../../support/cdp/proxy-fixtures.ts';
import { slowIf } from '../../support/property-runs.ts';

/** The emulated network of a page, for requests that only the proxy reaches and for those of the browser itself. */

interface Timed {
  ms: number;
  status: unknown;
}

const fetched = async (page: Page, path: string, body?: number): Promise<Timed> =>
  await page.evaluate(
    async ([url, bytes]) => {
      const begun = performance.now();
      const init = bytes === null ? {} : { method: 'POST', body: 'x'.repeat(Number(bytes)) };
      const status = await fetch(String(url), init).then(
        async (response) => [response.status, (await response.arrayBuffer()).byteLength],
        ({ name }) => name,
      );
      return { ms: performance.now() - begun, status };
    },
    [path, body ?? null] as const,
  );

const NONE = { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: -1 };

/** What a page sees with the conditions, directly and through the proxy. */
async function bothWays(
  far: { newPage(): Promise<unknown>; newCDPSession(page: never): Promise<unknown> },
  { port }: DevServer,
  emulate: (session: CDPSession) => Promise<unknown>,
  look: (page: Page) => Promise<Timed>,
) {
  const go = async (origin: string) => {
    const page = (await far.newPage()) as Page;
    await page.goto(`${origin}/page`);
    const session = (await far.newCDPSession(page as never)) as CDPSession;
    await emulate(session);
    const seen = await look(page);
    await page.close();
    return seen;
  };
  return { proxied: await go(`http://${LISTED}:${port}`), direct: await go(`http://localhost:${port}`) };
}

const conditions = (changes: object) => (session: CDPSession) =>
  session.send('Network.emulateNetworkConditions', { ...NONE, ...changes });
const CASES: Record<
  string,
  [emulate: (session: CDPSession) => Promise<unknown>, look: (page: Page) => Promise<Timed>, ms: number]
> = {
  latency: [conditions({ latency: 400 }), (page) => fetched(page, '/size'), 400],
  'download throughput': [
    conditions({ downloadThroughput: 100_000 }),
    (page) => fetched(page, '/huge?bytes=50000'),
    500,
  ],
  'upload throughput': [conditions({ uploadThroughput: 100_000 }), (page) => fetched(page, '/size', 50_000), 500],
  offline: [conditions({ offline: true }), (page) => fetched(page, '/size'), 0],
};

for (const [name, [emulate, look, ms]] of Object.entries(CASES)) {
  test(
    `emulates the network as a local browser does: ${name}`,
    slowIf(name === 'upload throughput'),
    async ({ far, dev }) => {
      const { proxied, direct } = await bothWays(far, dev, emulate, look);
      expect(proxied.status).toEqual(direct.status);
      expect(direct.ms).toBeGreaterThan(ms * 0.8);
      expect(proxied.ms).toBeGreaterThan(ms * 0.8);
    },
  );
}

test('ends the emulation with the session that has set it', async ({ far, dev }) => {
  const page = (await far.newPage()) as Page;
  await page.goto(`http://${LISTED}:${dev.port}/page`);
  const session = await far.newCDPSession(page);
  await session.send('Network.emulateNetworkConditions', { ...NONE, latency: 20_000 });
  await session.detach();
  expect((await fetched(page, '/echo')).ms).toBeLessThan(10_000);
});

test('gives up a request that waits on a slow emulated network when its page closes', async ({ far, dev }) => {
  const page = (await far.newPage()) as Page;
  await page.goto(`http://${LISTED}:${dev.port}/page`);
  const session = await far.newCDPSession(page);
  await session.send('Network.emulateNetworkConditions', { ...NONE, latency: 600_000 });
  const failed = page.waitForEvent('requestfailed');
  await page.evaluate(() => {
    const abort = new AbortController();
    fetch('/echo', { signal: abort.signal }).catch(() => undefined);
    setTimeout(() => abort.abort(), 200);
  });
  expect((await failed).failure()?.errorText).toBe('net::ERR_ABORTED');
  await page.close();
});

/** More than a busy machine takes for a request, in ms. */
const SLOW_MS = 3_000;

for (const [name, urlPatterns] of [
  ['first', ['*://*:*/size', '']],
  ['last', ['', '*://*:*/size']],
] as const) {
  test(
    `emulates the network by address when the specific rule is ${name}`,
    slowIf(name === 'first'),
    async ({ far, dev }) => {
      const matchedNetworkConditions = urlPatterns.map((urlPattern) => ({
        ...NONE,
        urlPattern,
        latency: urlPattern === '' ? 0 : SLOW_MS,
      }));
      const byRule = (session: CDPSession) =>
        session.send(
          'Network.emulateNetworkConditionsByRule' as 'Network.enable',
          { offline: false, matchedNetworkConditions } as never,
        );
      for (const path of ['/size', '/stream']) {
        const { proxied, direct } = await bothWays(far, dev, byRule, (page) => fetched(page, path));
        const isSlow = ({ ms }: { ms: number }) => ms > 0.8 * SLOW_MS;
        expect(isSlow(proxied)).toBe(isSlow(direct));
        expect(isSlow(direct)).toBe(name === 'first' && path === '/size');
      }
    },
  );
}
