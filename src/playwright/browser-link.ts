import type { Browser, BrowserContext, BrowserContextOptions, BrowserType } from '@playwright/test';
import type { LeasedBrowser } from '../broker/protocol.ts';
import { describeClosed, type LinkClosed } from '../cdp/link-closed.ts';
import { Meter } from '../cdp/meter.ts';
import { supportsTransport } from '../cdp/supports-transport.ts';
import { connectByAddress, connectThroughTransport } from './cdp-connection.ts';
import { meterContext } from './context-metering.ts';
import type { RecordedLink } from './recorder.ts';

/** Playwright's connection to one leased browser. */
export interface BrowserLink extends RecordedLink {
  readonly browser: Browser;
  /** The browser's own context, which isolated tests do not use. */
  readonly defaultContext: BrowserContext | undefined;
  /** Resolves as soon as the link is down, whoever closed it; what the other side said is in it. Never rejects. */
  readonly closed: Promise<LinkClosed>;
  /** Opens a context whose pages are metered. */
  newContext(options?: BrowserContextOptions): Promise<BrowserContext>;
  /** Drops the connection; the browser itself goes on. */
  close(): Promise<void>;
}

/**
 * Connects to a leased browser: through a transport of ours where this Playwright takes one, else by address.
 * @throws LeaseError `CONNECT_FAILED`, without the address in message, cause or stack.
 */
export async function openLink(
  chromium: BrowserType,
  lease: LeasedBrowser,
  options: { metering: boolean },
): Promise<BrowserLink> {
  const meter = options.metering ? new Meter() : null;
  const hasTransport = await supportsTransport(chromium);
  const { browser, closed, close } = hasTransport
    ? await connectThroughTransport(chromium, lease, meter)
    : await connectByAddress(chromium, lease);
  let end: string | null = null;
  void closed.then((why) => {
    end = `session ${lease.sessionId}: ${describeClosed(why)}`;
  });
  return {
    browser,
    lease,
    defaultContext: browser.contexts()[0],
    closed,
    newContext: async (contextOptions) => {
      const context = await browser.newContext(contextOptions);
      // The transport sees all that the browser says; without one every page needs to be listened to.
      if (meter && !hasTransport) meterContext(context, meter);
      return context;
    },
    observedBytes: () => meter?.total() ?? null,
    lost: () => end ?? (browser.isConnected() ? null : `session ${lease.sessionId}: the link to the browser closed`),
    close: async () => {
      // On a link that is already down there is nothing to say goodbye to.
      await close().catch(() => undefined);
    },
  };
}
