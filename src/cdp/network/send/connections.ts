import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type PeerCertificate, TLSSocket } from 'node:tls';
import type { Protocol } from 'devtools-protocol';
import { CONNECT_TIMEOUT_MS, connectorThrough, type Dial } from '../../../common/dial/dial.ts';
import { ResponseSocket } from './http1/response-socket.ts';
import { addressesOf, isLocalhost } from './localhost.ts';
import type { ProxiedTraffic } from './proxied-traffic.ts';
import { buildConnector, Pool } from './undici-library.ts';

/** The server of a response, in the terms of CDP's `Network.Response`. */
export interface Server {
  remoteIPAddress: string;
  remotePort: number;
  /** Null without TLS. */
  securityDetails: Protocol.Network.SecurityDetails | null;
}

/** Short, because a server may close an idle connection just when the next request is sent. In ms. */
const KEEP_ALIVE_MS = 1_000;

// The only way to find out which connection undici uses for a request.
subscribe('undici:client:sendHeaders', (message) => {
  const { socket } = message as { socket: unknown };
  if (socket instanceof ResponseSocket) socket.begin();
});

/** How many connections a browser context has to a server at once, as in Chromium. */
const MAX_PER_SERVER = 6;

/** The connections of a browser context, and what it knows about their servers. */
export class Connections {
  /** Time limit for a response's head, and for each next piece of its body, in ms. */
  readonly #responseTimeout: number;
  readonly #dial: Dial | undefined;
  readonly #traffic: ProxiedTraffic | undefined;
  /**
   * By origin. undici's `Agent` begins another pool when a server's last connection ends, although requests wait in the
   * first one: there would be twice as many connections.
   */
  readonly #strict = new Map<string, Pool>();
  readonly #lenient = new Map<string, Pool>();
  /** Errors of connections that responded to earlier requests, but not to the last one. */
  readonly #ofStale = new WeakSet<object>();
  /** Origins that speak HTTP/2 only. */
  readonly #onlyOver2 = new Set<string>();
  /** By origin. */
  readonly #servers = new Map<string, Server>();

  /** @param dial default: connections start on this machine and go directly to the server */
  constructor(responseTimeout: number, traffic?: ProxiedTraffic, dial?: Dial) {
    this.#responseTimeout = responseTimeout;
    this.#traffic = traffic;
    this.#dial = dial;
  }

  pool(origin: string, ignoreHTTPSErrors: boolean): Pool {
    const pools = ignoreHTTPSErrors ? this.#lenient : this.#strict;
    const pool = pools.get(origin) ?? this.#newPool(origin, !ignoreHTTPSErrors);
    pools.set(origin, pool);
    return pool;
  }

  /**
   * Whether a request failed because its server had closed an idle connection, or closed it on receiving the request: a
   * browser retries such a request, whatever its method. Each such failure uses up an idle connection, so the retries
   * end.
   */
  wasStale(error: unknown): boolean {
    return typeof error === 'object' && error !== null && this.#ofStale.has(error);
  }

  /** The server of the newest connection to an address. */
  serverOf(url: string): Server | undefined {
    return this.#servers.get(new URL(url).origin);
  }

  close(): void {
    for (const pools of [this.#strict, this.#lenient]) for (const pool of pools.values()) void pool.destroy();
  }

  #newPool(origin: string, rejectUnauthorized: boolean): Pool {
    const connector = (allowH2: boolean) => this.#connector(rejectUnauthorized, allowH2);
    const [over1, over2] = [connector(false), connector(true)];
    return new Pool(origin, {
      connect: (options: buildConnector.Options, done: buildConnector.Callback) => {
        const connected: buildConnector.Callback = (...[error, socket]) => {
          if (error) return done(error, null);
          this.#note(origin, socket);
          this.#traffic?.follow(socket);
          done(null, (socket as Partial<TLSSocket>).alpnProtocol === 'h2' ? socket : this.#watched(socket));
        };
        if (this.#onlyOver2.has(origin)) return over2(options, connected);
        over1(options, (...[error, socket]) => {
          if (!hasOtherProtocol(error)) return error ? connected(error, null) : connected(null, socket);
          this.#onlyOver2.add(origin);
          over2(options, connected);
        });
      },
      connections: MAX_PER_SERVER,
      headersTimeout: this.#responseTimeout,
      bodyTimeout: this.#responseTimeout,
      keepAliveTimeout: KEEP_ALIVE_MS,
      // A server may offer longer; that is not useful here.
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
    });
  }

  #connector(rejectUnauthorized: boolean, allowH2: boolean): buildConnector.connector {
    if (this.#dial) return connectorThrough(this.#dial, { rejectUnauthorized, allowH2 });
    const connector = (isHere: boolean) =>
      buildConnector({
        timeout: CONNECT_TIMEOUT_MS,
        allowH2,
        rejectUnauthorized,
        ...addressesOf(isHere, CONNECT_TIMEOUT_MS),
      });
    const [local, other] = [connector(true), connector(false)];
    return (options, done) => (isLocalhost(options.hostname) ? local : other)(options, done);
  }

  #watched(socket: Socket): Socket {
    const watched = new ResponseSocket(socket);
    watched.once('error', (error) => {
      if (watched.isStale) this.#ofStale.add(error);
    });
    // undici needs no more of it than a stream has.
    return watched as Duplex as Socket;
  }

  #note(origin: string, socket: Socket): void {
    const { remoteAddress: remoteIPAddress = '', remotePort = 0 } = socket;
    // A resumed TLS session has no certificate: use that of the previous connection.
    const before = this.#servers.get(origin)?.securityDetails ?? null;
    const securityDetails = socket instanceof TLSSocket ? (securityOf(socket) ?? before) : null;
    this.#servers.set(origin, { remoteIPAddress, remotePort, securityDetails });
  }
}

/** Whether a server does not speak HTTP/1. Others are never spoken to over HTTP/2. */
function hasOtherProtocol(error: Error | null): boolean {
  return (error as NodeJS.ErrnoException | null)?.code === 'ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL';
}

function securityOf(socket: TLSSocket): Protocol.Network.SecurityDetails | null {
  const certificate: Partial<PeerCertificate> = socket.getPeerCertificate();
  const { subject, issuer, valid_from, valid_to, subjectaltname = '' } = certificate;
  if (valid_from === undefined || valid_to === undefined) return null;
  const seconds = (date: string) => Math.floor(Date.parse(date) / 1000);
  return {
    protocol: (socket.getProtocol() ?? '').replace(/^TLSv/, 'TLS '),
    keyExchange: '',
    cipher: socket.getCipher().standardName.replace(/^TLS_|_SHA\d+$/g, ''),
    certificateId: 0,
    subjectName: first(subject?.CN),
    sanList: subjectaltname.split(', ').flatMap((name) => /^(?:DNS|IP Address):(.+)$/.exec(name)?.[1] ?? []),
    issuer: first(issuer?.CN),
    validFrom: seconds(valid_from),
    validTo: seconds(valid_to),
    signedCertificateTimestampList: [],
    certificateTransparencyCompliance: 'unknown',
    encryptedClientHello: false,
  };
}

/** If a certificate has a name several times, Chromium reports one. */
function first(name: string | string[] | undefined): string {
  return (Array.isArray(name) ? name[0] : name) ?? '';
}
