import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { type PeerCertificate, TLSSocket } from 'node:tls';
import type { Protocol } from 'devtools-protocol';
import { Agent, buildConnector } from 'undici';
import { addressesOf } from './localhost.ts';

/** Who has answered, in words of CDP's `Network.Response`. */
export interface BridgeServer {
  remoteIPAddress: string;
  remotePort: number;
  /** Null without TLS. */
  securityDetails: Protocol.Network.SecurityDetails | null;
}

/** Bound on connecting, in ms. */
const CONNECT_TIMEOUT_MS = 30_000;
/** A kept connection may be closed by its server just when the next request is on its way, in ms. */
const KEEP_ALIVE_MS = 1_000;

/** Of the request that is under way on a connection: whether others came before it, and what had been read until it was sent. */
interface Turn {
  isFirst: boolean;
  bytesRead: number;
}

/** Connections of bridges; null before the first request. */
const turns = new WeakMap<object, Turn | null>();

// undici says by no other means which connection a request goes out on.
subscribe('undici:client:sendHeaders', (message) => {
  const { socket } = message as { socket: Socket };
  const last = turns.get(socket);
  if (last !== undefined) turns.set(socket, { isFirst: last === null, bytesRead: socket.bytesRead });
});

/** The connections that a bridge makes, and what it knows of the servers at their ends. */
export class BridgeConnections {
  /** Bound on waiting for the head of an answer, and for each next piece of its body, in ms. */
  readonly #answerTimeout: number;
  #strict: Agent | undefined;
  #lenient: Agent | undefined;
  /** Errors of connections that had answered requests before, and nothing to the last one. */
  readonly #ofStale = new WeakSet<object>();
  /** By origin. */
  readonly #servers = new Map<string, BridgeServer>();

  constructor(answerTimeout: number) {
    this.#answerTimeout = answerTimeout;
  }

  agent(ignoreHTTPSErrors: boolean): Agent {
    this.#strict ??= this.#newAgent(true);
    if (!ignoreHTTPSErrors) return this.#strict;
    this.#lenient ??= this.#newAgent(false);
    return this.#lenient;
  }

  /**
   * Whether a request failed because its server had closed a kept connection, or did so on receiving it: a browser sends
   * such a request again, whatever its method. Each such failure uses up a kept connection, so it does not go on for ever.
   */
  wasStale(error: unknown): boolean {
    return typeof error === 'object' && error !== null && this.#ofStale.has(error);
  }

  /** The server that the newest connection to an address is with. */
  serverOf(url: string): BridgeServer | undefined {
    return this.#servers.get(new URL(url).origin);
  }

  /** Cuts what is under way. */
  close(): void {
    void this.#strict?.destroy();
    void this.#lenient?.destroy();
  }

  #newAgent(rejectUnauthorized: boolean): Agent {
    // One for each host: it keeps what resumes its TLS sessions.
    const connectors = new Map<string, ReturnType<typeof buildConnector>>();
    const connectorOf = (hostname: string) => {
      const known = connectors.get(hostname);
      if (known) return known;
      const addresses = addressesOf(hostname, CONNECT_TIMEOUT_MS);
      const made = buildConnector({ timeout: CONNECT_TIMEOUT_MS, allowH2: false, rejectUnauthorized, ...addresses });
      connectors.set(hostname, made);
      return made;
    };
    return new Agent({
      connect: (options, done) =>
        connectorOf(options.hostname)(options, (...made) => {
          const [, socket] = made;
          if (socket) {
            this.#note(new URL(`${options.protocol}//${options.host}`).origin, socket);
            this.#watch(socket);
          }
          done(...made);
        }),
      allowH2: false,
      headersTimeout: this.#answerTimeout,
      bodyTimeout: this.#answerTimeout,
      keepAliveTimeout: KEEP_ALIVE_MS,
      // A browser that is told to keep a connection longer may; this one has no use for it.
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
    // A server shows no certificate when a session is resumed: it is that of the connection before.
    const before = this.#servers.get(origin)?.securityDetails ?? null;
    const securityDetails = socket instanceof TLSSocket ? (securityOf(socket) ?? before) : null;
    this.#servers.set(origin, { remoteIPAddress, remotePort, securityDetails });
  }
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

/** Of a name that a certificate has several times, Chromium reports one. */
function first(name: string | string[] | undefined): string {
  return (Array.isArray(name) ? name[0] : name) ?? '';
}
