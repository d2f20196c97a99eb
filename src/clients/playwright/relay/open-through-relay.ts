import type { Browser, BrowserType } from '@playwright/test';
import type { LeasedBrowser } from '../../../broker/rpc/messages/protocol.ts';
import type { ConnectionClosed } from '../../../cdp/transport/connection-closed.ts';
import { openLocalEndpoint } from '../../../cdp/transport/local-endpoint.ts';
import { errorMessage } from '../../../common/error-message.ts';
import { withoutFragment } from '../../../common/url/without-fragment.ts';
import { LeaseError } from '../../../errors.ts';
import type { ContextMode } from '../../../options/context-mode.ts';
import { parseExposure } from '../../../options/expose-network.ts';
import type { ConnectionSettings } from '../../../options/schema/plan.ts';
import { redactText } from '../../../redact.ts';
import type { Open } from '../../../relay/protocol.ts';
import { issueRelayToken, RELAY_SECRET } from '../../../relay/relay-token.ts';
import type { ConnectionOptions, OpenedConnection } from '../../shared/connection/connect-through.ts';
import { secretMissing } from './check-relay.ts';
import { EarlyClose, type MessageOutput } from './early-close.ts';
import { EarlyWrites } from './early-writes.ts';
import { ExposedServers } from './exposed-servers.ts';
import { NextContext } from './next-context.ts';
import { NextPage } from './next-page.ts';
import { RelayConnection, RelayFailure } from './relay-connection.ts';

/** Something that messages of Playwright's protocol pass. */
interface MessageInterceptor {
  fromClient(text: string): void;
  fromServer(text: string): void;
}

/** What is known about the relay and its browser. */
interface MessageSurroundings {
  /** How many bytes have not left this process. */
  queued(): number;
  /** Whether the browser's pages have separate windows. */
  haveWindows(): boolean;
}

/** How many denied addresses are remembered to explain failed requests. */
const MAX_DENIED = 1_000;
const NO_FILES = 'the rule `<files>` has no effect through a relay: serve the files over HTTP';

/**
 * Connects Playwright to a leased browser through a relay: Playwright's own protocol crosses the distance instead of
 * CDP, so that an action takes one round trip.
 * @throws OptionsError without the secret of the relay; LeaseError from `connect`
 */
export async function openThroughRelay(
  chromium: BrowserType,
  address: string,
  lease: LeasedBrowser,
  options: ConnectionOptions,
  mode: ContextMode,
): Promise<OpenedConnection<Browser>> {
  const secret = process.env[RELAY_SECRET];
  if (!secret) throw secretMissing();
  // A relay accepts it once, for a short time.
  const token = issueRelayToken(secret, lease.cdpUrl);
  const exposure = parseExposure(options.exposeNetwork);
  if (exposure.hosts?.matches('file:///')) options.onNote(NO_FILES);
  const servers = new ExposedServers(exposure);
  const denied = new Set<string>();
  const endpoint = await openLocalEndpoint();
  let connection: RelayConnection | null = null;
  let onClosed: (why: ConnectionClosed) => void;
  const closed = new Promise<ConnectionClosed>((resolve) => {
    onClosed = resolve;
  });
  const close = () => {
    endpoint.close();
    if (connection) connection.close();
    else onClosed({ code: null, reason: '', byUs: true });
  };
  const openConnection = async (timeout: number): Promise<void> => {
    const { socket, userAgent } = await endpoint.connected;
    const output = {
      toClient: (message: string) => socket.send(message),
      toServer: (message: string) => connection?.send(message),
    };
    const interceptors = messageInterceptors(options, mode, output, {
      queued: () => connection?.traffic().queued ?? 0,
      haveWindows: () => connection?.haveWindows ?? true,
    });
    connection = await RelayConnection.open({ address, token, userAgent, timeout }, browserOf(lease, options, mode), {
      onText: (message) => {
        servers.observeResponse(message);
        interceptors.fromServer(message);
      },
      onDial: (stream, to) => servers.connect(stream, to),
      onDenied: (url) => {
        if (denied.size < MAX_DENIED) denied.add(url);
      },
      onNotCarried: (text) => {
        options.onNote(text);
        options.onUnreachable(text);
      },
    });
    const { closed } = connection;
    socket.on('message', (data) => {
      const message = String(data);
      servers.observe(message);
      interceptors.fromClient(message);
    });
    socket.on('close', close);
    socket.resume();
    void closed.then((why) => {
      endpoint.close();
      onClosed(why);
    });
  };
  return {
    transport: {
      ask: async () => await connection?.ask(),
      traffic: () => connection?.traffic() ?? { received: 0, sent: 0, queued: 0 },
      closed,
      close,
    },
    // Beside the browser, where its messages are.
    health: {
      fault: () => connection?.figures.fault ?? null,
      clean: async () => (await connection?.clean()) ?? null,
    },
    connect: async (timeout) => {
      const opening = openConnection(timeout);
      // Without a connection, Playwright would wait for its time limit.
      opening.catch(() => endpoint.close());
      const connecting = chromium.connect(endpoint.address, { timeout });
      connecting.catch(() => undefined);
      try {
        await Promise.race([opening, connecting.then(() => opening)]);
        return await connecting;
      } catch (error) {
        close();
        await opening.catch((failure) => {
          throw relayFailed(lease, address, failure);
        });
        throw relayFailed(lease, address, error);
      }
    },
    figures: {
      observedBytes: () => (options.metering ? (connection?.figures.observedBytes ?? 0) : null),
      commands: () => connection?.figures.commands ?? 0,
      distance: () => ({
        roundTripMs: connection?.figures.roundTripMs ?? null,
        savedMs: connection?.figures.savedMs ?? 0,
      }),
      proxiedBytes: () => servers.traffic.total(),
      carriedOrigins: () => servers.origins,
    },
    wasProxied: (url) => servers.reaches(url) && !denied.has(withoutFragment(url)),
  };
}

function browserOf(lease: LeasedBrowser, options: ConnectionOptions, mode: ContextMode): Open {
  return {
    type: 'open',
    cdpUrl: lease.cdpUrl,
    headers: lease.headers,
    sessionId: lease.sessionId,
    runsAlready: lease.runsAlready,
    metering: options.metering,
    ahead: options.ahead,
    sharesBrowser: options.reuse !== 'test',
    exposeNetwork: options.exposeNetwork,
    persistent: mode.persistent ? { clear: mode.clear } : null,
  };
}

function relayFailed({ sessionId, cdpUrl }: LeasedBrowser, address: string, error: unknown): LeaseError {
  const reason = error instanceof RelayFailure ? error.message : errorMessage(error).split('\n')[0];
  return new LeaseError(
    'CONNECT_FAILED',
    `Could not connect to the browser of session ${sessionId} through the relay ${new URL(address).host}: ${redactText(reason ?? '', [cdpUrl])}`,
    { sessionId },
  );
}

/** How messages pass from the client to the relay and back, in order from the client. */
function messageInterceptors(
  { ahead, reuse }: ConnectionSettings,
  { persistent }: ContextMode,
  output: MessageOutput,
  { queued, haveWindows }: MessageSurroundings,
): MessageInterceptor {
  const list: ((output: MessageOutput) => MessageInterceptor)[] = [];
  // A persistent context is cleared and reused, not created; a browser for one test has no next context.
  const hasNext = ahead && !persistent && reuse !== 'test';
  // Closest to the client: it must not see that a context is still being closed.
  if (hasNext) list.push((next) => new EarlyClose(next));
  if (ahead) list.push((next) => new EarlyWrites(next, queued));
  // Closest to the server: nothing else may see objects that the client does not have.
  if (hasNext) {
    let pages: NextPage;
    list.push((next) => new NextContext(next, (context) => pages.prepare(context)));
    list.push((next) => {
      pages = new NextPage(next, haveWindows);
      return pages;
    });
  }
  return chained(list, output);
}

function chained(
  [make, ...rest]: ((output: MessageOutput) => MessageInterceptor)[],
  { toServer, toClient }: MessageOutput,
): MessageInterceptor {
  if (!make) return { fromClient: toServer, fromServer: toClient };
  const own: MessageInterceptor = make({ toServer: (text) => others.fromClient(text), toClient });
  const others = chained(rest, { toServer, toClient: (text) => own.fromServer(text) });
  return { fromClient: (text) => own.fromClient(text), fromServer: (text) => others.fromServer(text) };
}
