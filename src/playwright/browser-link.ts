import type { Browser, BrowserContext, BrowserContextOptions, BrowserType } from '@playwright/test';
import type { LeasedBrowser } from '../broker/protocol.ts';
import { type CdpTransport, Meter, openTransport, supportsTransport } from '../cdp/index.ts';
import { LeaseError } from '../errors.ts';
import { redactText } from '../redact.ts';
import { meterContext } from './address-metering.ts';
import type { RecordedLink } from './recorder.ts';

/** Playwright's connection to one leased browser. */
export interface BrowserLink extends RecordedLink {
  readonly browser: Browser;
  /** The browser's own context, which isolated tests do not use. */
  readonly defaultContext: BrowserContext | undefined;
  /** Opens a context whose pages are metered. */
  newContext(options?: BrowserContextOptions): Promise<BrowserContext>;
  /** Drops the connection; the browser itself goes on. */
  close(): Promise<void>;
}

/** Bound on connecting to a browser that the service called ready, in ms: a wedged tab can stall it for ever. */
const CONNECT_TIMEOUT_MS = 30_000;

/**
 * Connects to a leased browser: through our own transport where this Playwright takes one, else by address.
 * @throws LeaseError `CONNECT_FAILED`, without the address in message, cause or stack.
 */
export async function openLink(
  chromium: BrowserType,
  lease: LeasedBrowser,
  options: { metering: boolean },
): Promise<BrowserLink> {
  const meter = options.metering ? new Meter() : null;
  const byTransport = await supportsTransport(chromium);
  try {
    return byTransport ? await transportLink(chromium, lease, meter) : await addressLink(chromium, lease, meter);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new LeaseError(
      'CONNECT_FAILED',
      `Could not connect to the browser of session ${lease.sessionId}: ${redactText(reason, [lease.cdpUrl])}`,
      { sessionId: lease.sessionId },
    );
  }
}

async function transportLink(chromium: BrowserType, lease: LeasedBrowser, meter: Meter | null): Promise<BrowserLink> {
  const transport: CdpTransport = await openTransport(lease.cdpUrl, {
    timeout: CONNECT_TIMEOUT_MS,
    hideFirstPage: true,
    meter: meter ?? undefined,
  });
  try {
    const browser = await chromium.connectOverCDP(transport, { timeout: CONNECT_TIMEOUT_MS });
    const lost = () => {
      const closed = transport.closedReason;
      return closed === null ? null : `the link to session ${lease.sessionId} closed (code ${closed.code}${closed.reason ? `, ${closed.reason}` : ''})`;
    };
    return asLink(browser, lease, meter, lost);
  } catch (error) {
    transport.close();
    throw error;
  }
}

async function addressLink(chromium: BrowserType, lease: LeasedBrowser, meter: Meter | null): Promise<BrowserLink> {
  const browser = await chromium.connectOverCDP(lease.cdpUrl, { timeout: CONNECT_TIMEOUT_MS });
  const lost = () => (browser.isConnected() ? null : `the link to session ${lease.sessionId} closed`);
  return {
    ...asLink(browser, lease, meter, lost),
    newContext: async (options) => {
      const context = await browser.newContext(options);
      if (meter) meterContext(context, meter);
      return context;
    },
  };
}

function asLink(browser: Browser, lease: LeasedBrowser, meter: Meter | null, lost: () => string | null): BrowserLink {
  return {
    browser,
    lease,
    defaultContext: browser.contexts()[0],
    newContext: (options) => browser.newContext(options),
    observedBytes: () => meter?.total() ?? null,
    lost,
    close: async () => {
      // On a link that is already down there is nothing to say goodbye to.
      await browser.close().catch(() => undefined);
    },
  };
}
