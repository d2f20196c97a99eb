import type { Browser, BrowserType } from '@playwright/test';
import type { LeasedBrowser } from '../../broker/rpc/protocol.ts';
import { IntendedPlaces } from '../../cdp/bridge/intent/intended-places.ts';
import { withoutFragment } from '../../cdp/bridge/intent/loopback-origin.ts';
import type { PersistentOptions } from '../../cdp/contexts/persistent-context.ts';
import type { AheadOptions } from '../../cdp/interceptors.ts';
import type { Meter } from '../../cdp/metering/meter.ts';
import { describeClosed, type LinkClosed } from '../../cdp/transport/link-closed.ts';
import { supportsTransport } from '../../cdp/transport/supports-transport.ts';
import type { CdpTransport } from '../../cdp/transport/transport.ts';
import { errorMessage } from '../../common/error-message.ts';
import { traceTime } from '../../common/time-trace.ts';
import { LeaseError } from '../../errors.ts';
import type { Exposure } from '../../options/expose-network.ts';
import { redactText } from '../../redact.ts';

/** A browser that Playwright is connected to, and the transport that it talks through. */
export interface ConnectedBrowser {
  readonly browser: Browser;
  readonly transport: CdpTransport;
  /** Bytes that its pages moved through this machine. */
  bridgedBytes(): number;
  /** Origins of this machine, and folders of `file:` pages, that tests went to themselves, each once. */
  carriedOrigins(): readonly string[];
  /** Whether a request to an address went through this machine, as far as its pages had the right to it. */
  wasCarried(url: string): boolean;
}

/** Bound on connecting to a browser that the service called ready, in ms: a wedged tab can stall it for ever. */
const CONNECT_TIMEOUT_MS = 30_000;
/** So many addresses that a page was denied are kept in mind, for what is said of them. */
const MOST_DENIED = 1_000;

/** What our transport does beside carrying messages. */
export interface TransportUse {
  /** Sees everything that the browser says. */
  meter: Meter | null;
  /** What pages reach through this machine. */
  exposure: Exposure;
  /** The browser's own context in the place of a new one. */
  persistent: PersistentOptions | null;
  /** Hides round trips. */
  ahead: AheadOptions | null;
}

/**
 * Connects with a transport of ours, whatever the Playwright: one that takes no transport is led through it. One bound
 * for both steps, and one error that holds no address, whichever of the two fails.
 * @throws LeaseError `CONNECT_FAILED`, without the address in message, cause or stack
 */
export async function connectToBrowser(
  chromium: BrowserType,
  { cdpUrl, sessionId }: LeasedBrowser,
  { meter, exposure, persistent, ahead }: TransportUse,
): Promise<ConnectedBrowser> {
  traceTime('worker', 'a browser is leased');
  // Of no use to a process without a browser.
  const { openTransport } = await import('../../cdp/open-transport.ts');
  const deadline = performance.now() + CONNECT_TIMEOUT_MS;
  let bridgedBytes = 0;
  const places = new IntendedPlaces();
  const denied = new Set<string>();
  const byIntent = {
    onPlace: (place: string) => void places.add(place),
    onDenied: (url: string) => {
      if (denied.size < MOST_DENIED) denied.add(url);
    },
  };
  const transport = await openTransport(cdpUrl, {
    timeout: CONNECT_TIMEOUT_MS,
    sessionId,
    ...(meter && { meter }),
    ...(exposure.hosts && { bridge: exposure.hosts }),
    ...(exposure.byIntent && { byIntent }),
    onBridgedBytes: (bytes) => {
      bridgedBytes += bytes;
    },
    ...(persistent && { persistent }),
    ...(ahead && { ahead }),
  });
  traceTime('worker', 'the link is open');
  const carried = {
    carriedOrigins: () => [...places.origins, ...places.folders],
    wasCarried: (url: string) => exposure.hosts?.matches(url) || (places.has(url) && !denied.has(withoutFragment(url))),
  };
  let cut: LinkClosed | null = null;
  void transport.closed.then((why) => {
    if (!why.byUs) cut = why;
  });
  try {
    // Zero would mean no bound at all.
    const timeout = Math.max(1, deadline - performance.now());
    const browser = (await supportsTransport(chromium))
      ? await chromium.connectOverCDP(transport, { timeout })
      : await chromium.connectOverCDP(await tunnelTo(transport), { timeout });
    return { browser, transport, bridgedBytes: () => bridgedBytes, ...carried };
  } catch (error) {
    transport.close();
    throw connectFailed(sessionId, cut ? describeClosed(cut) : reasonOf(error, cdpUrl));
  }
}

/** Only an older Playwright needs it, and its library. */
async function tunnelTo(transport: CdpTransport): Promise<string> {
  const { openTunnel } = await import('../../cdp/transport/tunnel.ts');
  return await openTunnel(transport);
}

/** No `cause`: Playwright's error may hold the address. */
function connectFailed(sessionId: string, reason: string): LeaseError {
  return new LeaseError('CONNECT_FAILED', `Could not connect to the browser of session ${sessionId}: ${reason}`, {
    sessionId,
  });
}

function reasonOf(error: unknown, cdpUrl: string): string {
  return redactText(errorMessage(error), [cdpUrl]);
}
