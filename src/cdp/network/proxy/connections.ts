import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { type PeerCertificate, TLSSocket } from 'node:tls';
import type { Protocol } from 'devtools-protocol';
import type { ProxiedTraffic } from '../proxied-traffic.ts';
import { CONNECT_TIMEOUT_MS, type Dial, dialServer } from './dial.ts';
import { addressesOf, isLocalhost } from './localhost.ts';
import { Agent, buildConnector } from './undici-library.ts';

/** The server of a response, in the terms of CDP's `Network.Response`. */
export interface Server {
  remoteIPAddress: string;
  remotePort: number;
  /** Null without TLS. */
  securityDetails: Protocol.Network.SecurityDetails | null;
}

/** Short, because a server may close an idle connection just when the next request is sent. In ms. */
const KEEP_ALIVE_MS = 1_000;

/**
 * State of the current request on a connection: whether it is the first one, and how many bytes were read before it was
 * sent.
 */
interface Turn {
  isFirst: boolean;
  bytesRead: number;
}

/** Connections of proxies; null before the first request. */
const turns = new WeakMap<object, Turn | null>();

// The only way to find out which connection undici uses for a request.
subscribe('undici:client:sendHeaders', (message) => {
  const { socket } = message as { socket: Socket };
  const last = turns.get(socket);
  if (last !== undefined) turns.set(socket, { isFirst: last === null, bytesRead: socket.bytesRead });
});

/** A proxy's connections, and what it knows about their servers. */
export class Connections {
  /** Time limit for a response's head, and for each next piece of its body, in ms. */
  readonly #responseTimeout: number;
  readonly #dial: Dial | undefined;
  readonly #traffic: ProxiedTraffic | undefined;
  #strict: Agent | undefined;
  #lenient: Agent | undefined;
  /** Errors of connections that responded to earlier requests, but not to the last one. */
  readonly #ofStale = new WeakSet<object>();
  /** By origin. */
  readonly #servers = new Map<string, Server>();

  /** @param dial default: connections start on this machine and go directly to the server */
  constructor(responseTimeout: number, traffic?: ProxiedTraffic, dial?: Dial) {
    this.#responseTimeout = responseTimeout;
    this.#traffic = traffic;
    this.#dial = dial;
  }

  agent(ignoreHTTPSErrors: boolean): Agent {
    this.#strict ??= this.#newAgent(true);
    if (!ignoreHTTPSErrors) return this.#strict;
    this.#lenient ??= this.#newAgent(false);
    return this.#lenient;
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

  /** Aborts all requests. */
  close(): void {
    void this.#strict?.destroy();
    void this.#lenient?.destroy();
  }

  #newAgent(rejectUnauthorized: boolean): Agent {
    const connector = (isHere: boolean) =>
      buildConnector({
        timeout: CONNECT_TIMEOUT_MS,
        allowH2: false,
        rejectUnauthorized,
        ...addressesOf(isHere, CONNECT_TIMEOUT_MS),
      });
    const dial = this.#dial;
    const [local, other] = dial
      ? [dialing(dial, rejectUnauthorized), dialing(dial, rejectUnauthorized)]
      : [connector(true), connector(false)];
    return new Agent({
      connect: (options, done) =>
        (isLocalhost(options.hostname) ? local : other)(options, (...made) => {
          const [, socket] = made;
          if (socket) {
            this.#note(new URL(`${options.protocol}//${options.host}`).origin, socket);
            this.#watch(socket);
            this.#traffic?.follow(socket);
          }
          done(...made);
        }),
      allowH2: false,
      headersTimeout: this.#responseTimeout,
      bodyTimeout: this.#responseTimeout,
      keepAliveTimeout: KEEP_ALIVE_MS,
      // A server may offer longer; that is not useful here.
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
    });
  }

  #watch(socket: Socket): void {
    turns.set(socket, null);
    socket.once('error', (error) => {
      const turn = turns.get(socket);
      if (turn && !turn.isFirst && socket.bytesRead === turn.bytesRead) this.#ofStale.add(error);
    });
  }

  #note(origin: string, socket: Socket): void {
    const { remoteAddress: remoteIPAddress = '', remotePort = 0 } = socket;
    // A resumed TLS session has no certificate: use that of the previous connection.
    const before = this.#servers.get(origin)?.securityDetails ?? null;
    const securityDetails = socket instanceof TLSSocket ? (securityOf(socket) ?? before) : null;
    this.#servers.set(origin, { remoteIPAddress, remotePort, securityDetails });
  }
}

/** Connects with `dial`, for undici. */
function dialing(dial: Dial, rejectUnauthorized: boolean): ReturnType<typeof buildConnector> {
  return ({ hostname, port, protocol }, done) => {
    const isSecure = protocol === 'https:';
    const number = Number(port) || (isSecure ? 443 : 80);
    dialServer(dial, { hostname, port: number, isSecure, rejectUnauthorized }).then(
      // undici needs no more of it than a stream has.
      (stream) => done(null, stream as Socket),
      (error) => done(error, null),
    );
  };
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
