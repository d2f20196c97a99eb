import type { Browser, BrowserType } from '@playwright/test';
import type { LeasedTarget } from '../../../cdp/pipeline.ts';
import type { ConnectionClosed } from '../../../cdp/transport/connection-closed.ts';
import { openLocalEndpoint } from '../../../cdp/transport/local-endpoint.ts';
import { deferred } from '../../../common/deferred.ts';
import { errorMessage } from '../../../common/error-message.ts';
import { LeaseError } from '../../../errors.ts';
import { redactText } from '../../../redact.ts';
import { issueRelayToken, RELAY_SECRET } from '../../../relay/relay-token.ts';
import type { OpenedConnection, Opening } from '../../shared/connection/connect-through.ts';
import { checkRelay, secretMissing } from './check-relay.ts';
import { EarlyClose, type MessageOutput } from './early-close.ts';
import { EarlyWrites } from './early-writes.ts';
import { ExposedServers } from './exposed-servers.ts';
import { NextContext } from './next-context.ts';
import { NextPage } from './next-page.ts';
import { NO_FIGURES, RelayConnection, RelayFailure } from './relay-connection.ts';

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

const NO_FILES = 'the rule `<files>` has no effect through a relay: serve the files over HTTP';

/** See {@link checkRelay}. */
export async function check(address: string, playwright: string): Promise<void> {
  await checkRelay(address, playwright, process.env[RELAY_SECRET]);
}

/**
 * Connects Playwright to a leased browser through a relay: Playwright's own protocol crosses the distance instead of
 * CDP, so that an action takes one round trip.
 * @throws OptionsError without the secret of the relay; LeaseError from `connect`
 */
export async function open(
  chromium: BrowserType,
  address: string,
  { target, options, exposure, onDenied, onUnreachable }: Opening,
): Promise<OpenedConnection<Browser>> {
  const secret = process.env[RELAY_SECRET];
  if (!secret) throw secretMissing();
  // A relay accepts it once, for a short time.
  const token = issueRelayToken(secret, target.cdpUrl);
  if (exposure.hosts?.matches('file:///')) options.onNote(NO_FILES);
  const servers = new ExposedServers(exposure);
  const endpoint = await openLocalEndpoint();
  let connection: RelayConnection | null = null;
  const { promise: closed, resolve: onClosed } = deferred<ConnectionClosed>();
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
    const interceptors = messageInterceptors(target, output, {
      queued: () => connection?.traffic().queued ?? 0,
      haveWindows: () => connection?.haveWindows ?? true,
    });
    const given = { type: 'open' as const, ...target, exposeNetwork: options.exposeNetwork };
    connection = await RelayConnection.open({ address, token, userAgent, timeout }, given, {
      onText: (message) => {
        servers.observeResponse(message);
        interceptors.fromServer(message);
      },
      onDial: (stream, to) => servers.connect(stream, to),
      onDenied,
      onNotCarried: onUnreachable,
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
          throw relayFailed(target, address, failure);
        });
        throw relayFailed(target, address, error);
      }
    },
    figures: () => ({
      ...(connection?.figures ?? NO_FIGURES),
      observedBytes: target.metering ? (connection?.figures.observedBytes ?? 0) : null,
      proxied: servers.traffic.total(),
      carriedOrigins: servers.origins,
    }),
    reaches: (url) => servers.reaches(url),
  };
}

function relayFailed({ sessionId, cdpUrl }: LeasedTarget, address: string, error: unknown): LeaseError {
  const reason = error instanceof RelayFailure ? error.message : errorMessage(error).split('\n')[0];
  return new LeaseError(
    'CONNECT_FAILED',
    `Could not connect to the browser of session ${sessionId} through the relay ${new URL(address).host}: ${redactText(reason ?? '', [cdpUrl])}`,
    { sessionId },
  );
}

/** How messages pass from the client to the relay and back, in order from the client. */
function messageInterceptors(
  { ahead, sharesBrowser, persistent }: LeasedTarget,
  output: MessageOutput,
  { queued, haveWindows }: MessageSurroundings,
): MessageInterceptor {
  const list: ((output: MessageOutput) => MessageInterceptor)[] = [];
  // A persistent context is cleared and reused, not created; a browser for one test has no next context.
  const hasNext = ahead && !persistent && sharesBrowser;
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
