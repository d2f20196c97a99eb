import type { LeasedBrowser } from '../../../broker/rpc/messages/protocol.ts';
import { VisitedOrigins } from '../../../cdp/network/policy/visited-origins.ts';
import { ProxiedTraffic } from '../../../cdp/network/send/proxied-traffic.ts';
import type { Client } from '../../../cdp/optional.ts';
import type { LeasedTarget } from '../../../cdp/pipeline.ts';
import { Screencast } from '../../../cdp/screencast/screencast.ts';
import { type ConnectionClosed, describeClosed } from '../../../cdp/transport/connection-closed.ts';
import type { CdpTransport } from '../../../cdp/transport/transport.ts';
import { traceTime } from '../../../common/debug.ts';
import { errorMessage } from '../../../common/error-message.ts';
import { withoutFragment } from '../../../common/url/parsed-url.ts';
import { LeaseError, PoolwrightError } from '../../../errors.ts';
import { type ContextMode, contextMode } from '../../../options/context-mode.ts';
import { type Exposure, parseExposure } from '../../../options/expose-network.ts';
import type { ConnectionSettings } from '../../../options/schema/plan.ts';
import { redactText } from '../../../redact.ts';
import { followConnection, type HealthCheck } from './connection-lifetime.ts';
import type { ConnectionEvents, ConnectionFigures, LeasedConnection } from './leased-connection.ts';
import { unreachableText } from './unreachable.ts';

/** Settings of a connection, and its callbacks. */
export interface ConnectionOptions extends ConnectionSettings, ConnectionEvents {}

/** How a client library connects through our transport. */
export interface ClientLibrary<Browser> {
  name: Client;
  /** See `showsPages` of the transport. Default false. */
  showsPages?: boolean;
  /** @param timeout in ms */
  connect(transport: CdpTransport, timeout: number): Promise<Browser>;
  isConnected(browser: Browser): boolean;
  /** The origins that need a context's proxy on this machine, if it is the library's own; null if a test named it. */
  originsOfProxy?(server: string): readonly string[] | null;
  /** Disconnects without ending the browser. */
  disconnect(browser: Browser): Promise<void>;
  /** Opens a connection in another way than through our transport in this process. */
  open?(opening: Opening): Promise<OpenedConnection<Browser>>;
}

/** A connection that is to be opened. */
export interface Opening {
  target: LeasedTarget;
  options: ConnectionOptions;
  exposure: Exposure;
  screencast: Screencast;
  /** A page was not allowed to reach an address that the test visits. */
  onDenied(url: string): void;
  /** Notifies the user, and adds the text to the error of the test. */
  onUnreachable(text: string): void;
}

/** A connection to a browser that no client library uses yet. */
export interface OpenedConnection<Browser> {
  transport: Pick<CdpTransport, 'ask' | 'close' | 'closed' | 'traffic'>;
  health: HealthCheck;
  figures(): Omit<ConnectionFigures, 'pictureBytes'>;
  /** Whether requests to this address go through this machine, unless they are denied. */
  reaches(url: string): boolean;
  /**
   * Connects the client library.
   * @param timeout in ms
   * @throws PoolwrightError whose message is complete; any other error is wrapped in a LeaseError
   */
  connect(timeout: number): Promise<Browser>;
}

/** A client's connection to a leased browser. */
export interface Connection<Browser> extends LeasedConnection {
  /** The client library's browser object. */
  readonly browser: Browser;
  /** Which context of the browser tests use. */
  readonly mode: ContextMode;
  /** Resolves with the reason when the connection closes, whichever side closed it. Never rejects. */
  readonly closed: Promise<ConnectionClosed>;
  /** A page's request failed. Notifies the user if its target was a server or file of this machine. */
  requestFailed(url: string, error: string): void;
}

/** Time limit for connecting to a browser that the service reported as ready, in ms: a hung tab can block forever. */
const CONNECT_TIMEOUT_MS = 30_000;
/** How many denied addresses are remembered to explain failed requests. */
const MAX_DENIED = 1_000;

/**
 * Connects a client library to a leased browser. Opening the transport and connecting the client share one time limit
 * and one error.
 * @throws LeaseError `CONNECT_FAILED`, without the address in message, cause or stack
 */
export async function connectThrough<Browser>(
  library: ClientLibrary<Browser>,
  lease: LeasedBrowser,
  options: ConnectionOptions,
): Promise<Connection<Browser>> {
  traceTime('worker', 'a browser is leased');
  const mode = contextMode(options.context, lease.hasOwnState);
  const exposure = parseExposure(options.exposeNetwork);
  const screencast = new Screencast();
  const denied = new Set<string>();
  const target = targetOf(lease, options, library.name === 'playwright' && mode.persistent ? mode : null);
  const opening: Opening = {
    target,
    options,
    exposure,
    screencast,
    onDenied: (url) => {
      if (denied.size < MAX_DENIED) denied.add(url);
    },
    onUnreachable: (text) => {
      options.onNote(text);
      options.onUnreachable(text);
    },
  };
  const opened = library.open ? await library.open(opening) : await openHere(library, opening);
  const { transport, health } = opened;
  const wasProxied = (url: string) => opened.reaches(url) && !denied.has(withoutFragment(url));
  traceTime('worker', 'the connection is open');
  let cut: ConnectionClosed | null = null;
  void transport.closed.then((why) => {
    if (!why.byUs) cut = why;
  });
  try {
    const browser = await opened.connect(CONNECT_TIMEOUT_MS);
    const life = followConnection({
      transport,
      health,
      isConnected: () => library.isConnected(browser),
      disconnect: () => library.disconnect(browser),
      onSilent: options.onSilent,
    });
    return {
      browser,
      lease,
      mode,
      screencast,
      note: options.onNote,
      closed: transport.closed,
      requestFailed: (url, error) => {
        const text = unreachableText(url, error, { auto: exposure.auto, wasProxied });
        if (text !== null) opening.onUnreachable(text);
      },
      figures: () => ({ ...opened.figures(), pictureBytes: screencast.bytes() }),
      ...life,
    };
  } catch (error) {
    transport.close();
    if (error instanceof PoolwrightError) throw error;
    throw connectFailed(target, cut ? describeClosed(cut) : errorMessage(error));
  }
}

function targetOf(
  { cdpUrl, headers, sessionId, runsAlready }: LeasedBrowser,
  { metering, ahead, reuse }: ConnectionOptions,
  persistent: ContextMode | null,
): LeasedTarget {
  return {
    cdpUrl,
    headers,
    sessionId,
    runsAlready,
    metering,
    ahead,
    sharesBrowser: reuse !== 'test',
    persistent: persistent && { clear: persistent.clear },
  };
}

async function openHere<Browser>(
  { name: client, showsPages, connect, originsOfProxy }: ClientLibrary<Browser>,
  { target, exposure: { hosts, auto }, screencast, onDenied, onUnreachable }: Opening,
): Promise<OpenedConnection<Browser>> {
  // Loaded here, because processes without a browser do not need it.
  const { openLeased } = await import('../../../cdp/pipeline.ts');
  const visited = new VisitedOrigins();
  const traffic = new ProxiedTraffic();
  const { transport, health, figures } = await openLeased(target, {
    timeout: CONNECT_TIMEOUT_MS,
    client,
    screencast,
    showsPages: showsPages && !target.runsAlready,
    onIncompleteUpload: onUnreachable,
    ...(originsOfProxy && { originsOfProxy }),
    proxiedHosts: hosts ?? undefined,
    auto: auto ? { onVisit: (origin) => void visited.add(origin), onDenied } : undefined,
    traffic,
  });
  return {
    transport,
    health,
    connect: (timeout) => connect(transport, timeout),
    figures: () => ({
      ...figures(),
      proxied: traffic.total(),
      carriedOrigins: [...visited.origins, ...visited.directories],
    }),
    reaches: (url) => hosts?.matches(url) || visited.has(url),
  };
}

/** Without `cause`, because the client's error may contain the address. */
function connectFailed({ sessionId, cdpUrl }: LeasedTarget, reason: string): LeaseError {
  const text = redactText(reason, [cdpUrl]);
  return new LeaseError('CONNECT_FAILED', `Could not connect to the browser of session ${sessionId}: ${text}`, {
    sessionId,
  });
}
