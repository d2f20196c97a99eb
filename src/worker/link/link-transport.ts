import { Savings } from '../../cdp/ahead/savings.ts';
import { IntendedPlaces } from '../../cdp/bridge/intent/intended-places.ts';
import { withoutFragment } from '../../cdp/bridge/intent/loopback-origin.ts';
import type { AheadOptions, InterceptorOptions } from '../../cdp/interceptors.ts';
import { Meter } from '../../cdp/metering/meter.ts';
import { describeClosed, type LinkClosed } from '../../cdp/transport/link-closed.ts';
import type { CdpTransport } from '../../cdp/transport/transport.ts';
import { errorMessage } from '../../common/error-message.ts';
import { traceTime } from '../../common/time-trace.ts';
import { LeaseError } from '../../errors.ts';
import type { Exposure } from '../../options/expose-network.ts';
import { redactText } from '../../redact.ts';
import type { RecordedLink } from './lease-link.ts';

/** What is known of a transport, whatever client talks through it. */
type Figures = Pick<RecordedLink, 'bridgedBytes' | 'carriedOrigins' | 'commands' | 'distance' | 'observedBytes'>;

/** A client that is connected, and the transport that it talks through. */
export interface Connected<Client> {
  readonly browser: Client;
  readonly transport: CdpTransport;
  readonly figures: Figures;
  /** Whether a request to an address went through this machine, as far as its pages had the right to it. */
  wasCarried(url: string): boolean;
}

/** Whose link it is, and what the transport does beside carrying messages. */
export interface TransportUse extends Pick<InterceptorOptions, 'client' | 'onNotCarried' | 'persistent'> {
  metering: boolean;
  /** What is sent ahead; null: nothing. */
  ahead?: Pick<AheadOptions, 'contexts'> | null;
  /** What pages reach through this machine. */
  exposure: Exposure;
}

/** Bound on connecting to a browser that the service called ready, in ms: a wedged tab can stall it for ever. */
const CONNECT_TIMEOUT_MS = 30_000;
/** So many addresses that a page was denied are kept in mind, for what is said of them. */
const MOST_DENIED = 1_000;

/**
 * Opens a transport of ours to a leased browser, and has a client connect through it. One bound for both steps, and one
 * error that holds no address, whichever of the two fails.
 * @param connect the client's part; `timeout` is what is left of the bound, in ms
 * @throws LeaseError `CONNECT_FAILED`, without the address in message, cause or stack
 */
export async function connectThrough<Client>(
  { cdpUrl, sessionId }: { cdpUrl: string; sessionId: string },
  { exposure, metering, ahead = null, ...use }: TransportUse,
  connect: (transport: CdpTransport, timeout: number) => Promise<Client>,
): Promise<Connected<Client>> {
  traceTime('worker', 'a browser is leased');
  // Of no use to a process without a browser.
  const { openTransport } = await import('../../cdp/open-transport.ts');
  const deadline = performance.now() + CONNECT_TIMEOUT_MS;
  const meter = metering ? new Meter() : undefined;
  const savings = new Savings();
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
    ...use,
    meter,
    distance: savings,
    ...(ahead && { ahead: { ...ahead, savings } }),
    ...(exposure.hosts && { bridge: exposure.hosts }),
    ...(exposure.byIntent && { byIntent }),
    onBridgedBytes: (bytes) => {
      bridgedBytes += bytes;
    },
  });
  traceTime('worker', 'the link is open');
  const figures: Figures = {
    observedBytes: () => meter?.total() ?? null,
    commands: () => transport.commands,
    distance: () => ({ roundTripMs: savings.roundTripMs, savedMs: savings.savedMs }),
    bridgedBytes: () => bridgedBytes,
    carriedOrigins: () => [...places.origins, ...places.folders],
  };
  const wasCarried = (url: string) =>
    exposure.hosts?.matches(url) || (places.has(url) && !denied.has(withoutFragment(url)));
  let cut: LinkClosed | null = null;
  void transport.closed.then((why) => {
    if (!why.byUs) cut = why;
  });
  try {
    // Zero would mean no bound at all.
    const browser = await connect(transport, Math.max(1, deadline - performance.now()));
    return { browser, transport, figures, wasCarried };
  } catch (error) {
    transport.close();
    throw connectFailed(sessionId, cut ? describeClosed(cut) : redactText(errorMessage(error), [cdpUrl]));
  }
}

/** No `cause`: the client's error may hold the address. */
function connectFailed(sessionId: string, reason: string): LeaseError {
  return new LeaseError('CONNECT_FAILED', `Could not connect to the browser of session ${sessionId}: ${reason}`, {
    sessionId,
  });
}
