import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type LookupFunction, type Server, type Socket } from 'node:net';
import { isOfThisUser } from '../../common/platform/local-access.ts';
import { urlCredentials } from '../../common/url/credentials.ts';
import { judge } from './egress-policy.ts';
import { FailureNames, netErrorOf } from './failure-names.ts';
import { type Reply, readRequest, reply, type SocksRequest } from './socks-handshake.ts';

const SOCKS_PORT = 1080;
/** Bound on being connected, in ms: what Chromium itself waits for. */
const CONNECT_MS = 30_000;

export interface EgressProxyOptions {
  allowLoopback: boolean;
  /** SOCKS5 or SOCKS5H proxy that everything leaves through. */
  upstream?: string | undefined;
  /** Whether hosts of advertisements are out of reach. */
  blocksAds?: boolean | undefined;
  log: (line: string) => void;
}

/** The SOCKS reply for a failed connection. */
const REPLY_BY_CODE: Record<string, Reply> = {
  ECONNREFUSED: 'refused',
  ENETUNREACH: 'network unreachable',
  EHOSTUNREACH: 'host unreachable',
};

/**
 * One browser's way out: a separate SOCKS5 proxy on 127.0.0.1, which counts this browser's bytes. SOCKS, because what a
 * page and its site say to each other passes as it is: an HTTP proxy responds in the site's place when a connection
 * fails, and changes headers and the reuse of connections.
 */
export class EgressProxy {
  readonly failures = new FailureNames();
  readonly #options: EgressProxyOptions;
  readonly #server: Server;
  readonly #incoming = new Set<Socket>();
  readonly #outgoing = new Set<Outgoing>();
  /** Fires when the browser is taken off the network. */
  readonly #isCut = new AbortController();
  #closedBytes = 0;
  #total: number | undefined;
  #closed: Promise<unknown> | undefined;

  private constructor(options: EgressProxyOptions) {
    this.#options = options;
    this.#server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
      this.#incoming.add(socket);
      socket.once('close', () => this.#incoming.delete(socket)).on('error', () => undefined);
      void this.#accept(socket);
    });
  }

  static async start(options: EgressProxyOptions): Promise<EgressProxy> {
    const proxy = new EgressProxy(options);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Cuts every connection at once. Returns what left and came in, in bytes, on the side of the sites: final. */
  cut(): number {
    if (this.#total === undefined) {
      this.#total = [...this.#outgoing].reduce((sum, each) => sum + bytesOf(each), this.#closedBytes);
      this.#isCut.abort();
      this.#closed = once(this.#server, 'close');
      this.#server.close();
      for (const socket of this.#incoming) socket.destroy();
      for (const { socket } of this.#outgoing) socket.destroy();
    }
    return this.#total;
  }

  /** Like `cut`; resolves when the port is free. */
  async close(): Promise<void> {
    this.cut();
    await this.#closed;
  }

  async #accept(incoming: Socket): Promise<void> {
    const request = await readRequest(incoming);
    if (request) await this.#serve(incoming, request);
  }

  /** One connection that the browser asks for. */
  async #serve(incoming: Socket, { host, port }: SocksRequest): Promise<void> {
    const { upstream, log, ...rules } = this.#options;
    const send = (what: Reply) => reply(incoming, what);
    try {
      // Other users' programs must not use an upstream that this user pays for, nor servers on loopback that trust this
      // user. They can reach all other hosts anyway, so the look-up, which takes 2 ms and more, is left out.
      const isForOwnUser = upstream !== undefined || rules.allowLoopback;
      if (isForOwnUser && !isOfThisUser(incoming)) {
        log('egress: refused a connection by a program of another user of this machine');
        return send('forbidden');
      }
      const verdict = await judge(host, { ...rules, hasUpstream: upstream !== undefined });
      if ('refused' in verdict) {
        if (!verdict.quietly) log(`egress: ${verdict.refused}`);
        this.failures.note(verdict.netError);
        return send('forbidden');
      }
      const outgoing = upstream
        ? await connectThrough(upstream, host, port)
        : await connectDirectly(host, port, verdict.addresses, this.#isCut.signal);
      // Cut, or given up by the browser, while it was being connected.
      if (this.#isCut.signal.aborted || incoming.destroyed) outgoing.socket.destroy();
      else this.#join(incoming, outgoing, () => send('granted'));
    } catch (error) {
      if (this.#isCut.signal.aborted || incoming.destroyed) return;
      const { code, message } = error as NodeJS.ErrnoException;
      log(`egress: ${host}:${port}: ${message}`);
      // Why an upstream proxy did not reach a host is unknown.
      this.failures.note(upstream === undefined ? netErrorOf(code) : undefined);
      send(REPLY_BY_CODE[code ?? ''] ?? 'failed');
    }
  }

  /** From here on each side hears what the other does: bytes, the end of them, and a broken connection. */
  #join(incoming: Socket, outgoing: Outgoing, granted: () => void): void {
    const { socket } = outgoing;
    this.#outgoing.add(outgoing);
    socket.once('error', () => incoming.resetAndDestroy());
    incoming.once('error', () => socket.resetAndDestroy());
    incoming.once('close', () => socket.destroy());
    socket.once('close', () => {
      this.#outgoing.delete(outgoing);
      this.#closedBytes += bytesOf(outgoing);
      if (!incoming.writableEnded) incoming.destroy();
    });
    socket.pipe(incoming);
    incoming.pipe(socket);
    granted();
  }
}

function bytesOf({ socket, overhead }: Outgoing): number {
  return socket.bytesRead + socket.bytesWritten - overhead;
}

/** Connects to a host through a SOCKS5 proxy, which looks the name up. @throws the reason, as an Error */
async function connectThrough(upstream: string, host: string, port: number): Promise<Outgoing> {
  // Loaded only where there is an upstream proxy.
  const { SocksClient } = await import('../../common/libraries/socks-library.ts');
  const url = new URL(upstream);
  const { hostname, port: proxyPort } = url;
  const { username: userId, password } = urlCredentials(url);
  const { socket } = await SocksClient.createConnection({
    proxy: {
      host: hostname.replace(/^\[|\]$/g, ''),
      port: Number(proxyPort || SOCKS_PORT),
      type: 5,
      ...(userId && { userId, password }),
    },
    command: 'connect',
    destination: { host, port },
    timeout: CONNECT_MS,
    set_tcp_nodelay: true,
  });
  return { socket, overhead: socket.bytesRead + socket.bytesWritten };
}

/** A connection to a site, and how many bytes of it belong to the way there. */
interface Outgoing {
  socket: Socket;
  /** Bytes of the upstream proxy's handshake, which are not the browser's. */
  overhead: number;
}

interface Address {
  address: string;
  family: number;
}

/**
 * Connects to a host at the checked addresses, because a second lookup might return others.
 * @throws the system's error, with its `code`; an AbortError when the signal fires or after 30 s
 */
async function connectDirectly(
  host: string,
  port: number,
  addresses: readonly Address[],
  signal: AbortSignal,
): Promise<Outgoing> {
  const pinned: LookupFunction = (_host, options, callback) => {
    const [first] = addresses;
    if (options.all) callback(null, [...addresses]);
    else callback(null, first?.address ?? '', first?.family);
  };
  // Half-open: a site that has sent all it has may still be listening.
  const socket = connect({ host, port, lookup: pinned, allowHalfOpen: true, noDelay: true });
  try {
    await once(socket, 'connect', { signal: AbortSignal.any([signal, AbortSignal.timeout(CONNECT_MS)]) });
  } catch (error) {
    socket.destroy();
    throw error;
  }
  return { socket, overhead: 0 };
}
