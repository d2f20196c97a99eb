import type { Browser, BrowserType } from '@playwright/test';
import type { LeasedBrowser } from '../broker/protocol.ts';
import { describeClosed, type LinkClosed } from '../cdp/link-closed.ts';
import type { Meter } from '../cdp/meter.ts';
import { LeaseError } from '../errors.ts';
import { redactText } from '../redact.ts';

/** A browser that Playwright is connected to. */
export interface CdpConnection {
  readonly browser: Browser;
  /** Resolves as soon as the link is down, whoever closed it. Never rejects. */
  readonly closed: Promise<LinkClosed>;
  /** Says goodbye and drops the connection; the browser itself goes on. One that does not answer is waited for. */
  close(): Promise<void>;
  /** Drops the connection to a browser that does not answer, where that is possible from this side. */
  cut(): void;
}

/** Bound on connecting to a browser that the service called ready, in ms: a wedged tab can stall it for ever. */
const CONNECT_TIMEOUT_MS = 30_000;

/**
 * Connects with a transport of ours (Playwright ≥ 1.61).
 * @param meter sees everything that the browser says
 * @throws LeaseError `CONNECT_FAILED`, without the address in message, cause or stack
 */
export async function connectThroughTransport(
  chromium: BrowserType,
  { cdpUrl, sessionId }: LeasedBrowser,
  meter: Meter | null,
): Promise<CdpConnection> {
  // Its WebSocket takes a tenth of a second to load, which processes without a browser need not spend.
  const { openTransport } = await import('../cdp/transport.ts');
  const deadline = performance.now() + CONNECT_TIMEOUT_MS;
  const transport = await openTransport(cdpUrl, {
    timeout: CONNECT_TIMEOUT_MS,
    sessionId,
    hideFirstPage: true,
    ...(meter && { meter }),
  });
  const { closed } = transport;
  let cut: LinkClosed | null = null;
  void closed.then((why) => {
    if (!why.byUs) cut = why;
  });
  try {
    // Zero would mean no bound at all.
    const timeout = Math.max(1, deadline - performance.now());
    const browser = await chromium.connectOverCDP(transport, { timeout });
    return { browser, closed, close: () => browser.close(), cut: () => transport.close() };
  } catch (error) {
    transport.close();
    throw connectFailed(sessionId, cut ? describeClosed(cut) : reasonOf(error, cdpUrl));
  }
}

/**
 * Connects by address, as every Playwright can.
 * @throws LeaseError `CONNECT_FAILED`, without the address in message, cause or stack
 */
export async function connectByAddress(
  chromium: BrowserType,
  { cdpUrl, sessionId }: LeasedBrowser,
): Promise<CdpConnection> {
  try {
    const browser = await chromium.connectOverCDP(cdpUrl, { timeout: CONNECT_TIMEOUT_MS });
    let byUs = false;
    const closed = new Promise<LinkClosed>((resolve) => {
      // Playwright does not say more.
      browser.once('disconnected', () => resolve({ code: null, reason: '', byUs }));
    });
    const close = () => {
      byUs = true;
      return browser.close();
    };
    // The socket is Playwright's: it closes when the service ends the session.
    return { browser, closed, close, cut: () => undefined };
  } catch (error) {
    throw connectFailed(sessionId, reasonOf(error, cdpUrl));
  }
}

/** No `cause`: Playwright's error may hold the address. */
function connectFailed(sessionId: string, reason: string): LeaseError {
  return new LeaseError('CONNECT_FAILED', `Could not connect to the browser of session ${sessionId}: ${reason}`, {
    sessionId,
  });
}

function reasonOf(error: unknown, cdpUrl: string): string {
  return redactText(error instanceof Error ? error.message : String(error), [cdpUrl]);
}
