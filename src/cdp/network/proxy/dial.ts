import { isIP, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';

/** Connects to a server from another machine. The stream emits `connect`, or an error with Node's code. */
export type Dial = (host: string, port: number) => Duplex;

/** A server, and whether its certificate must be valid. */
interface Destination {
  hostname: string;
  port: number;
  isSecure: boolean;
  rejectUnauthorized: boolean;
  /** Default: HTTP/1 only. */
  allowH2?: boolean;
}

/**
 * Dials a server, and adds TLS here if its address needs that. The first event is `connect`, `secureConnect` or
 * `error`.
 */
export function dialServer(dial: Dial, { hostname, port, isSecure, rejectUnauthorized, allowH2 }: Destination): Duplex {
  const host = hostname.replace(/^\[|\]$/g, '');
  const stream = dial(host, port);
  if (!isSecure) return stream;
  const socket = connectTls({
    // Node needs no more of it than a stream has.
    socket: stream as Socket,
    servername: isIP(host) ? '' : host,
    rejectUnauthorized,
    ALPNProtocols: allowH2 ? ['http/1.1', 'h2'] : ['http/1.1'],
  });
  stream.once('error', (error) => socket.destroy(error));
  return socket;
}
