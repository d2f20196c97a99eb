import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { Socks5Server } from '@pondwader/socks5-server';
import { judge } from './egress-policy.ts';
import { connectDirectly, type Outgoing } from './outgoing.ts';
import { isOwnUsers } from './peer.ts';
import { connectThrough } from './upstream-proxy.ts';

export interface EgressProxyOptions {
  allowLoopback: boolean;
  /** SOCKS5 or SOCKS5H proxy that everything leaves through. */
  upstream?: string | undefined;
  /** Whether hosts of advertisements are out of reach. */
  blocksAds?: boolean | undefined;
  log: (line: string) => void;
}

type Status = Parameters<Parameters<Socks5Server['connectionHandler']>[1]>[0];

/** The SOCKS reply for a failed connection. */
const STATUS_BY_CODE: Record<string, Status> = {
  ECONNREFUSED: 'CONNECTION_REFUSED',
  ENETUNREACH: 'NETWORK_UNREACHABLE',
  EHOSTUNREACH: 'HOST_UNREACHABLE',
};

/**
 * One browser's way out: a separate SOCKS5 proxy on 127.0.0.1, which counts this browser's bytes and no others. SOCKS,
 * because what a page and its site say to each other passes as it is: an HTTP proxy responds in the site's place when a
 * connection fails, and changes headers and the reuse of connections.
 */
export class EgressProxy {
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
    const socks = new Socks5Server();
    socks.setConnectionHandler(({ socket, destAddress, destPort }, send) => {
      void this.#serve(socket as Socket, destAddress ?? '', destPort ?? 0, send);
    });
    this.#server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
      this.#incoming.add(socket);
      socket.once('close', () => this.#incoming.delete(socket)).on('error', () => undefined);
      void isOwnUsers(socket).then((isOwn) => {
        if (isOwn) socks._handleConnection(socket);
        else {
          options.log('egress: refused a connection by a program of another user of this machine');
          socket.destroy();
        }
      });
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

  /** One connection that the browser asks for. */
  async #serve(incoming: Socket, host: string, port: number, send: (status: Status) => void): Promise<void> {
    const { upstream, log, ...rules } = this.#options;
    try {
      const verdict = await judge(host, { ...rules, hasUpstream: upstream !== undefined });
      if ('refused' in verdict) {
        if (!verdict.quietly) log(`egress: ${verdict.refused}`);
        return send('CONNECTION_NOT_ALLOWED');
      }
      const outgoing = upstream
        ? await connectThrough(upstream, host, port)
        : await connectDirectly(host, port, verdict.addresses, this.#isCut.signal);
      // Cut, or given up by the browser, while it was being connected.
      if (this.#isCut.signal.aborted || incoming.destroyed) outgoing.socket.destroy();
      else this.#join(incoming, outgoing, () => send('REQUEST_GRANTED'));
    } catch (error) {
      if (this.#isCut.signal.aborted || incoming.destroyed) return;
      const { code, message } = error as NodeJS.ErrnoException;
      log(`egress: ${host}:${port}: ${message}`);
      send(STATUS_BY_CODE[code ?? ''] ?? 'GENERAL_FAILURE');
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
