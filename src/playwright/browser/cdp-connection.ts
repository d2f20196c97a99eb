import type { Browser, BrowserType } from '@playwright/test';
import type { LeasedBrowser } from '../../broker/rpc/protocol.ts';
import type { BridgedHosts } from '../../cdp/bridge/bridged-hosts.ts';
import type { PersistentOptions } from '../../cdp/contexts/persistent-context.ts';
import type { Meter } from '../../cdp/metering/meter.ts';
import { describeClosed, type LinkClosed } from '../../cdp/transport/link-closed.ts';
import type { LinkTraffic } from '../../cdp/transport/open-socket.ts';
import { supportsTransport } from '../../cdp/transport/supports-transport.ts';
import type { CdpTransport } from '../../cdp/transport/transport.ts';
import { errorMessage } from '../../common/error-message.ts';
import { LeaseError } from '../../errors.ts';
import { redactText } from '../../redact.ts';

/** A browser that Playwright is connected to. */
export interface CdpConnection {
  readonly browser: Browser;
  /** Resolves as soon as the link is down, whoever closed it. Never rejects. */
  readonly closed: Promise<LinkClosed>;
  /** How many commands Playwright has sent, without the watchdog's signs of life. */
  commands(): number;
  /** Bytes that its pages moved through this machine. */
  bridgedBytes(): number;
  /** What has passed over the link so far. */
  traffic(): LinkTraffic;
  /** Says goodbye and drops the connection; the browser itself goes on. One that does not answer is waited for. */
  close(): Promise<void>;
  /** Drops the connection to a browser that does not answer. */
  cut(): void;
}

/** Bound on connecting to a browser that the service called ready, in ms: a wedged tab can stall it for ever. */
const CONNECT_TIMEOUT_MS = 30_000;

/** What our transport does beside carrying messages. */
export interface TransportUse {
  /** Sees everything that the browser says. */
  meter: Meter | null;
  /** Hosts that pages reach through this machine. */
  bridge: BridgedHosts | null;
  /** The browser's own context in the place of a new one. */
  persistent: PersistentOptions | null;
}

/**
 * Connects with a transport of ours, whatever the Playwright: one that takes no transport is led through it.
 * @throws LeaseError `CONNECT_FAILED`, without the address in message, cause or stack
 */
export async function connectToBrowser(
  chromium: BrowserType,
  { cdpUrl, sessionId }: LeasedBrowser,
  { meter, bridge, persistent }: TransportUse,
): Promise<CdpConnection> {
  // Its WebSocket takes a tenth of a second to load, which processes without a browser need not spend.
  const { openTransport } = await import('../../cdp/open-transport.ts');
  const deadline = performance.now() + CONNECT_TIMEOUT_MS;
  let bridgedBytes = 0;
  const transport = await openTransport(cdpUrl, {
    timeout: CONNECT_TIMEOUT_MS,
    sessionId,
    ...(meter && { meter }),
    ...(bridge && { bridge }),
    onBridgedBytes: (bytes) => {
      bridgedBytes += bytes;
    },
    ...(persistent && { persistent }),
  });
  const { closed } = transport;
  let cut: LinkClosed | null = null;
  void closed.then((why) => {
    if (!why.byUs) cut = why;
  });
  try {
    // Zero would mean no bound at all.
    const timeout = Math.max(1, deadline - performance.now());
    const browser = (await supportsTransport(chromium))
      ? await chromium.connectOverCDP(transport, { timeout })
      : await chromium.connectOverCDP(await tunnelTo(transport), { timeout });
    return {
      browser,
      closed,
      commands: () => transport.commands,
      bridgedBytes: () => bridgedBytes,
      traffic: () => transport.traffic(),
      close: () => browser.close(),
      cut: () => transport.close(),
    };
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
