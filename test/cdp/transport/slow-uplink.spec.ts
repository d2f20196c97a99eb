import { chromium } from '@playwright/test';
import type { LeasedBrowser } from '../../../src/broker/rpc/messages/protocol.ts';
import { connectPlaywright } from '../../../src/clients/playwright/connection.ts';
import { startDevServer } from '../../support/cdp/dev-server.ts';
import { expect, test } from '../../support/cdp/fixtures.ts';
import { slowIf } from '../../support/property-runs.ts';
import { startSlowLink } from './slow-link.ts';

/**
 * Responses that go to the browser for its pages use the test machine's uplink, in base64, and delay the liveness
 * check: here for longer than a browser may be silent.
 */
const LINKS = [
  { megabits: 1, bytes: 2_500_000, isSlow: false },
  { megabits: 10, bytes: 18_000_000, isSlow: true },
];

// They mostly wait.
test.describe.configure({ mode: 'parallel' });

for (const { megabits, bytes, isSlow } of LINKS) {
  test(
    `keeps the browser during a response of ${bytes / 1e6} MB over ${megabits} Mbit/s`,
    slowIf(isSlow),
    async ({ start }) => {
      test.setTimeout(300_000);
      const { api } = await start();
      const { cdpUrl, sessionId } = (await api.create()).body;
      const [dev, slow] = [await startDevServer(), await startSlowLink(cdpUrl, megabits * 1e6)];
      const link = await connectPlaywright(
        chromium,
        { cdpUrl: slow.cdpUrl, sessionId, type: 'hosted' } as LeasedBrowser,
        {
          metering: true,
          ahead: false,
          reuse: 'run',
          exposeNetwork: '<loopback>',
          context: 'isolated',
          identity: undefined,
          onNote: () => undefined,
          onUnreachable: () => undefined,
          onSilent: () => undefined,
        },
      );
      try {
        const page = await (await link.newContext()).newPage();
        await page.goto(dev.url);
        const started = performance.now();
        const length = page.evaluate(
          async (path) => (await (await fetch(path)).arrayBuffer()).byteLength,
          `/huge?bytes=${bytes}`,
        );
        length.catch(() => undefined);
        // Once the upload has begun.
        await expect.poll(() => link.figures().proxied.received).toBeGreaterThan(bytes / 10);
        expect(await length).toBe(bytes);
        expect(performance.now() - started).toBeGreaterThan(15_000);
        expect(link.lost()).toBe(null);
        expect(await link.settle(3_000)).toBe(null);
      } finally {
        await link.close();
        await slow.close();
        await dev.close();
      }
    },
  );
}
