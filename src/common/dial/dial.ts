import { once } from 'node:events';
import { type createConnection, isIP, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import type { buildConnector } from 'undici';

/** Connects to a server from elsewhere, or through something. @throws an error with Node's or Chromium's code */
export type Dial = (host: string, port: number) => Promise<Duplex>;

/** A server, and whether its certificate must be valid. */
export interface Destination {
  hostname: string;
  port: number;
  isSecure: boolean;
  rejectUnauthorized: boolean;
  /** Default: HTTP/1 only. */
  allowH2?: boolean;
}

/** Time limit for connecting, in ms. */
export const CONNECT_TIMEOUT_MS = 30_000;

/** Dials a server, and adds TLS here if its address needs that. */
export async function dialServer(
  dial: Dial,
  { hostname, port, isSecure, rejectUnauthorized, allowH2 }: Destination,
): Promise<Duplex> {
  const host = hostname.replace(/^\[|\]$/g, '');
  const stream = await dial(host, port);
  if (!isSecure) return stream;
  const socket = connectTls({
    // Node needs no more of it than a stream has.
    socket: stream as Socket,
    servername: isIP(host) ? '' : host,
    rejectUnauthorized,
    ALPNProtocols: allowH2 ? ['http/1.1', 'h2'] : ['http/1.1'],
  });
  stream.once('error', (error) => socket.destroy(error));
  return await connected(socket, 'secureConnect');
}

/** Waits until a stream is connected. @throws its error, or `ETIMEDOUT`; the stream is closed then */
export async function connected<Stream extends Duplex>(
  stream: Stream,
  event: 'connect' | 'secureConnect' = 'connect',
): Promise<Stream> {
  const signal = AbortSignal.timeout(CONNECT_TIMEOUT_MS);
  try {
    await once(stream, event, { signal });
    return stream;
  } catch (error) {
    stream.destroy();
    throw signal.aborted ? Object.assign(new Error('connect timed out'), { code: 'ETIMEDOUT' }) : error;
  }
}

/** `createConnection` of Node's HTTP client. Node waits for the callback if there is no stream yet. */
export function connectionThrough(dial: Dial, destination: Destination): typeof createConnection {
  return ((_options: unknown, done: (error: Error | null, stream?: Duplex) => void) => {
    dialServer(dial, destination).then((stream) => done(null, stream), done);
  }) as unknown as typeof createConnection;
}

/** The same for undici. */
export function connectorThrough(
  dial: Dial,
  server: Pick<Destination, 'rejectUnauthorized' | 'allowH2'>,
): buildConnector.connector {
  return ({ hostname, port, protocol }, done) => {
    const isSecure = protocol === 'https:';
    dialServer(dial, { ...server, hostname, port: Number(port) || (isSecure ? 443 : 80), isSecure }).then(
      // undici needs no more of it than a stream has.
      (stream) => done(null, stream as Socket),
      (error) => done(error, null),
    );
  };
}
