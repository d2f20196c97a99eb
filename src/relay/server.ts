import { type IncomingMessage, createServer as insecure, type RequestListener } from 'node:http';
import { createServer as secure } from 'node:https';
import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { errorMessage } from '../common/error-message.ts';
import { listenOn } from '../common/platform/listen-on.ts';
import type { AllowedHosts } from './allowed-hosts.ts';
import { type Account, sweepLeaseDirectories } from './lease-directories.ts';
import { type LeaseLimits, LeaseProcesses } from './lease-processes.ts';
import type { PlaywrightVersions } from './playwright-versions.ts';
import { missingVersion, playwrightVersion, RELAY_PATH, RELAY_PROTOCOL, STATUS_PATH } from './protocol.ts';
import { type RelayClaims, readRelayToken } from './relay-token.ts';

/** Why a worker is not served: an HTTP status, and a sentence without a secret. */
class Refusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** How long a refused worker may take to read why, in ms. */
const REFUSED_MS = 10_000;

/** The headers that the process of a lease gets. The token is not among them. */
const PASSED_ON = [
  'connection',
  'upgrade',
  'sec-websocket-key',
  'sec-websocket-version',
  'sec-websocket-extensions',
  'user-agent',
];

/** Options of {@link startRelay}. */
export interface RelayOptions {
  host: string;
  /** 0: any free one. */
  port: number;
  /** Certificate and key in PEM; null: without TLS. */
  tls: { cert: string; key: string } | null;
  /** Shared with the brokers that issue tokens. */
  secret: string;
  allowed: AllowedHosts;
  playwrights: PlaywrightVersions;
  limits: LeaseLimits;
  /** The account of the processes of leases; undefined: that of this process. */
  user: Account | undefined;
  /** Called with a line about something that the operator should know. Contains no secret. */
  onLog(line: string): void;
}

/** A running relay. */
export interface Relay {
  port: number;
  leases(): number;
  stop(): Promise<void>;
}

/** Time limits for the TLS handshake and the head of a request, in ms: before it, the other side is unknown. */
const HEAD_TIMEOUT_MS = 10_000;
/** How often they are checked, in ms. */
const CHECK_MS = 1_000;
/** How often the operating system checks that the other side exists, in ms. */
const KEEP_ALIVE_MS = 30_000;

/**
 * Starts a relay. This process reads only the head of each request. It then passes bytes between the worker and the
 * process of its lease, unread.
 * @throws OptionsError for an address that it cannot listen on
 */
export async function startRelay(options: RelayOptions): Promise<Relay> {
  await sweepLeaseDirectories(options.user);
  const processes = new LeaseProcesses(options);
  const used = new UsedTokens();
  const timeouts = {
    headersTimeout: HEAD_TIMEOUT_MS,
    requestTimeout: HEAD_TIMEOUT_MS,
    handshakeTimeout: HEAD_TIMEOUT_MS,
    connectionsCheckingInterval: CHECK_MS,
  };
  const upgraded = new Set<Duplex>();
  const listener: RequestListener = (request, response) => {
    try {
      if (request.url !== STATUS_PATH) throw new Refusal(404, 'not found');
      claimsOf(request, options.secret, used);
      const status = { protocol: RELAY_PROTOCOL, versions: [...options.playwrights.keys()] };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(status));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      response.writeHead(error.status, { 'content-type': 'text/plain' }).end(error.message);
    }
  };
  const server = options.tls ? secure({ ...options.tls, ...timeouts }, listener) : insecure(timeouts, listener);
  server.on('upgrade', (request, socket, head) => {
    // A worker that is cut off sends nothing more.
    socket.on('error', () => socket.destroy());
    upgraded.add(socket);
    socket.once('close', () => upgraded.delete(socket));
    serve(request, socket, head, { options, processes, used }).catch((error) => {
      if (!(error instanceof Refusal)) options.onLog(errorMessage(error));
      refuse(socket, error instanceof Refusal ? error : new Refusal(500, 'the relay could not start a lease'));
    });
  });
  const port = await listenOn(server, options);
  return {
    port,
    leases: () => processes.size,
    stop: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      await processes.end();
      server.closeAllConnections();
      // The server no longer knows those.
      for (const socket of upgraded) socket.destroy();
      await closed;
    },
  };
}

interface Serving {
  options: RelayOptions;
  processes: LeaseProcesses;
  used: UsedTokens;
}

/** @throws Refusal */
async function serve(
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  { options, processes, used }: Serving,
): Promise<void> {
  if (request.url !== RELAY_PATH) throw new Refusal(404, 'not found');
  const claims = claimsOf(request, options.secret, used);
  const playwright = versionOf(request, options.playwrights);
  if (processes.isFull) {
    throw new Refusal(503, `the relay has ${options.limits.leases} leases, its limit (\`--max-leases\`)`);
  }
  const lease = await processes.start({ playwright, browser: claims.browser, allowed: options.allowed });
  const inner: Socket = connect(lease.socket);
  inner.on('error', () => inner.destroy());
  inner.on('close', () => {
    lease.end();
    socket.destroy();
  });
  // A lease that hangs never closes its side.
  socket.on('end', () => socket.destroy());
  socket.on('close', () => {
    inner.destroy();
    lease.end();
  });
  if (socket.destroyed) lease.end();
  void lease.ended.then(() => socket.destroy());
  request.socket.setKeepAlive(true, KEEP_ALIVE_MS);
  request.socket.setNoDelay(true);
  inner.write(requestHead(request));
  inner.write(head);
  socket.pipe(inner).pipe(socket);
}

function claimsOf({ headers }: IncomingMessage, secret: string, used: UsedTokens): RelayClaims {
  const [, token = ''] = /^Bearer (\S+)$/.exec(headers.authorization ?? '') ?? [];
  const claims = readRelayToken(secret, token);
  if (!claims || !used.add(claims)) {
    throw new Refusal(401, 'the token is not valid: POOLWRIGHT_RELAY_SECRET differs, or the clocks do by minutes');
  }
  return claims;
}

function versionOf({ headers }: IncomingMessage, playwrights: PlaywrightVersions): string {
  const version = playwrightVersion(headers['user-agent']);
  const found = version === null ? undefined : playwrights.get(version);
  if (found !== undefined) return found;
  throw new Refusal(426, missingVersion(version ?? '(unknown)', [...playwrights.keys()]));
}

/** Sends a refusal in place of a WebSocket, and closes the connection, whatever the other side does. */
function refuse(socket: Duplex, { status, message }: Refusal): void {
  const lines = [
    `HTTP/1.1 ${status} Refused`,
    'connection: close',
    'content-type: text/plain',
    `content-length: ${Buffer.byteLength(message)}`,
  ];
  const timer = setTimeout(() => socket.destroy(), REFUSED_MS);
  socket.once('close', () => clearTimeout(timer));
  // What it still sends would hide its end.
  socket.resume();
  socket.once('end', () => socket.destroy());
  socket.end(`${lines.join('\r\n')}\r\n\r\n${message}`);
}

/** The head of a request for the process of a lease. */
function requestHead({ headers }: IncomingMessage): string {
  const lines = PASSED_ON.flatMap((name) => (headers[name] === undefined ? [] : [`${name}: ${headers[name]}`]));
  return `GET ${RELAY_PATH} HTTP/1.1\r\nhost: relay\r\n${lines.join('\r\n')}\r\n\r\n`;
}

/** The tokens that were used and are still valid: each is accepted once. */
export class UsedTokens {
  readonly #expiries = new Map<string, number>();

  /** Returns whether the token is used for the first time. */
  add({ id, expiresAt }: RelayClaims, now = Date.now()): boolean {
    for (const [each, expiry] of this.#expiries) if (expiry <= now) this.#expiries.delete(each);
    if (this.#expiries.has(id)) return false;
    this.#expiries.set(id, expiresAt);
    return true;
  }
}
