import type { Socket } from 'node:net';
import { type PeerCertificate, TLSSocket } from 'node:tls';
import type { Protocol } from 'devtools-protocol';
import { Agent, buildConnector } from 'undici';
import { localhostHere } from './localhost.ts';

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

/** The connections that a bridge makes, and what it knows of the servers at their ends. */
export class BridgeConnections {
  /** Bound on waiting for the head of an answer, and for each next piece of its body, in ms. */
  readonly #answerTimeout: number;
  #strict: Agent | undefined;
  #lenient: Agent | undefined;
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
    const connect = buildConnector({
      timeout: CONNECT_TIMEOUT_MS,
      allowH2: false,
      rejectUnauthorized,
      lookup: localhostHere,
    });
    return new Agent({
      connect: (options, done) =>
        connect(options, (...made) => {
          const [, socket] = made;
          if (socket) this.#note(new URL(`${options.protocol}//${options.host}`).origin, socket);
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
