import { createRequire } from 'node:module';
import { inspect } from 'node:util';
import type { BrowserType } from '@playwright/test';
import { chromium } from 'playwright-core';
import type { LeasedBrowser } from '../../../src/broker/rpc/protocol.ts';
import { LeaseError } from '../../../src/errors.ts';
import { connectToBrowser } from '../../../src/playwright/browser/cdp-connection.ts';
import { TOKEN } from '../../support/cdp/cdp-server.ts';
import { expect, test } from '../../support/cdp/fixtures.ts';

/** Playwright's two ways to a leased browser: what they say when it cannot be reached, and when it is lost. */

const oldest: { chromium: BrowserType } = createRequire(
  new URL('../../e2e/playwright-1.48/package.json', import.meta.url),
)('playwright-core');

const exposure = { hosts: null, byIntent: false };
const leased = (cdpUrl: string) => ({ cdpUrl, sessionId: 'ses_1' }) as LeasedBrowser;

const WAYS: Record<string, BrowserType> = { 'latest, by transport': chromium, 'oldest, by tunnel': oldest.chromium };

for (const [way, browserType] of Object.entries(WAYS)) {
  const connect = (cdpUrl: string) => connectToBrowser(browserType, leased(cdpUrl), { metering: false, exposure });

  test.describe(`Playwright ${way}`, () => {
    for (const status of [401, 404, 503]) {
      test(`refused with HTTP ${status}: an error without the address`, async ({ serveUpgrade }) => {
        const server = await serveUpgrade((_request, socket) => {
          socket.end(`HTTP/1.1 ${status} No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
        });
        const error = await connect(server.cdpUrl).catch((reason: unknown) => reason);
        expect(error).toBeInstanceOf(LeaseError);
        expect(error).toMatchObject({
          code: 'CONNECT_FAILED',
          sessionId: 'ses_1',
          message: expect.stringContaining('ses_1'),
        });
        expect(String(error)).toContain(String(status));
        expect(inspect(error, { depth: null, showHidden: true })).not.toContain(TOKEN);
      });
    }

    test('a link that closes while Playwright connects', async ({ serve }) => {
      const server = await serve((link) => link.on('message', () => link.close(4003, `ended: ${server.cdpUrl}`)));
      const error = await connect(server.cdpUrl).catch((reason: unknown) => reason);
      expect(error).toMatchObject({ code: 'CONNECT_FAILED', sessionId: 'ses_1' });
      expect(String(error)).toContain('(code 4003: ended: ws://');
      expect(inspect(error, { depth: null, showHidden: true })).not.toContain(TOKEN);
    });

    test('who closed the link', async ({ start }) => {
      const { api } = await start();
      const { sessionId, cdpUrl } = (await api.create()).body;
      const first = await connect(cdpUrl);
      await first.browser.close();
      expect(await first.transport.closed).toMatchObject({ byUs: true });

      const second = await connect(cdpUrl);
      await api.stop(sessionId);
      expect(await second.transport.closed).toEqual({ code: 1006, reason: '', byUs: false });
    });
  });
}
