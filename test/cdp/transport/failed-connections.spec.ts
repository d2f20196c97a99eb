import { createRequire } from 'node:module';
import { inspect } from 'node:util';
import { type BrowserType, chromium } from '@playwright/test';
import type { LeasedBrowser } from '../../../src/broker/rpc/messages/protocol.ts';
import { connectPlaywright } from '../../../src/clients/playwright/connection.ts';
import { LeaseError } from '../../../src/errors.ts';
import { TOKEN } from '../../support/cdp/cdp-server.ts';
import { expect, test } from '../../support/cdp/fixtures.ts';

/** Playwright's two ways to a leased browser: their errors when it cannot be reached, and when it is lost. */

const oldest: { chromium: BrowserType } = createRequire(
  new URL('../../e2e/playwright-1.48/package.json', import.meta.url),
)('playwright-core');

const settings = {
  metering: false,
  ahead: false,
  reuse: 'run',
  exposeNetwork: 'none',
  context: 'isolated',
  identity: undefined,
  onNote: () => undefined,
  onUnreachable: () => undefined,
  onSilent: () => undefined,
} as const;
const leased = (cdpUrl: string) => ({ cdpUrl, sessionId: 'ses_1' }) as LeasedBrowser;

const WAYS: Record<string, BrowserType> = { 'latest, by transport': chromium, 'oldest, by tunnel': oldest.chromium };

for (const [way, browserType] of Object.entries(WAYS)) {
  const connect = (cdpUrl: string) => connectPlaywright(browserType, leased(cdpUrl), settings);

  test.describe(`Playwright ${way}`, () => {
    for (const status of [401, 404, 503]) {
      test(`rejects with an error without the address after HTTP ${status}`, async ({ serveUpgrade }) => {
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

    test('rejects when the connection closes while Playwright connects', async ({ serve }) => {
      const server = await serve((link) => link.on('message', () => link.close(4003, `ended: ${server.cdpUrl}`)));
      const error = await connect(server.cdpUrl).catch((reason: unknown) => reason);
      expect(error).toMatchObject({ code: 'CONNECT_FAILED', sessionId: 'ses_1' });
      expect(String(error)).toContain('(code 4003: ended: ws://');
      expect(inspect(error, { depth: null, showHidden: true })).not.toContain(TOKEN);
    });

    test('says what `--debug` lacks, which is not the browser', async ({ serve }) => {
      // In Playwright's words, which are the same for the browser of a test. It would open a window where it has one.
      const missing = `Executable doesn't exist at /chrome\n║ npx playwright install ║`;
      const connectOverCDP = () => Promise.reject(new Error(missing));
      const withoutWindow = Object.assign(Object.create(browserType), { connectOverCDP });
      const server = await serve(() => undefined);
      const failure = connectPlaywright(withoutWindow, leased(server.cdpUrl), settings).catch(
        (error: unknown) => error,
      );
      expect(await failure).toMatchObject({ code: 'CONNECT_FAILED' });
      process.env.PWDEBUG = '1';
      try {
        await expect(connectPlaywright(withoutWindow, leased(server.cdpUrl), settings)).rejects.toMatchObject({
          code: 'ENVIRONMENT_MISSING',
          message: expect.stringMatching(/Inspector \(--debug\).*not installed: run `npx playwright install chromium`/),
        });
      } finally {
        delete process.env.PWDEBUG;
      }
    });

    test('reports which side closed the connection', async ({ start }) => {
      const { api } = await start();
      const { sessionId, cdpUrl } = (await api.create()).body;
      const first = await connect(cdpUrl);
      await first.browser.close();
      expect(await first.closed).toMatchObject({ byUs: true });

      const second = await connect(cdpUrl);
      await api.stop(sessionId);
      expect(await second.closed).toEqual({ code: 1006, reason: '', byUs: false });
    });
  });
}
