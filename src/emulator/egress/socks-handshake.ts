import type { Socket } from 'node:net';

/** The server's side of SOCKS5 (RFC 1928) for Chromium: `CONNECT`, without a password. */

const VERSION = 5;
const NO_AUTHENTICATION = 0;
const NONE_ACCEPTABLE = 0xff;
const CONNECT = 1;
const IPV4 = 1;
const NAME = 3;
const IPV6 = 4;

const REPLIES = {
  granted: 0,
  failed: 1,
  forbidden: 2,
  'network unreachable': 3,
  'host unreachable': 4,
  refused: 5,
  'unknown command': 7,
  'unknown address type': 8,
} as const;

export type Reply = keyof typeof REPLIES;

/** Where a client wants to go. */
export interface SocksRequest {
  /** A name, or an IP address as URLs have it, without brackets. */
  host: string;
  port: number;
}

/** Reads the client's greeting and its request. Null: it was no valid one, or the connection ended; it is closed. */
export async function readRequest(socket: Socket): Promise<SocksRequest | null> {
  const request = await handshake(socket).catch(() => null);
  if (typeof request === 'string') reply(socket, request);
  else if (request === null) socket.destroy();
  return typeof request === 'string' ? null : request;
}

/** Replies to the request; every reply but `granted` ends the connection. */
export function reply(socket: Socket, what: Reply): void {
  // The address that the server uses is of no use to the client.
  socket.write(Uint8Array.of(VERSION, REPLIES[what], 0, IPV4, 0, 0, 0, 0, 0, 0));
  if (what !== 'granted') socket.destroySoon();
}

async function handshake(socket: Socket): Promise<SocksRequest | Reply | null> {
  const [version, methods = 0] = await take(socket, 2);
  if (version !== VERSION || methods === 0) return null;
  const isOpen = (await take(socket, methods)).includes(NO_AUTHENTICATION);
  socket.write(Uint8Array.of(VERSION, isOpen ? NO_AUTHENTICATION : NONE_ACCEPTABLE));
  if (!isOpen) return null;
  const [again, command, , type] = await take(socket, 4);
  if (again !== VERSION) return null;
  if (command !== CONNECT) return 'unknown command';
  const host = await hostOf(socket, type);
  if (host === null) return 'unknown address type';
  return { host, port: (await take(socket, 2)).readUInt16BE() };
}

async function hostOf(socket: Socket, type: number | undefined): Promise<string | null> {
  if (type === IPV4) return (await take(socket, 4)).join('.');
  if (type === NAME) {
    const [length = 0] = await take(socket, 1);
    return length === 0 ? '' : (await take(socket, length)).toString();
  }
  if (type !== IPV6) return null;
  const hex = (await take(socket, 16)).toString('hex');
  return new URL(`http://[${hex.replace(/....(?!$)/g, '$&:')}]`).hostname.slice(1, -1);
}

/** The next bytes: exactly so many. @throws Error when the connection ends before */
async function take(socket: Socket, bytes: number): Promise<Buffer> {
  return await new Promise((resolve, reject) => {
    const settle = (work: () => void) => {
      socket.off('readable', attempt).off('end', fail).off('close', fail);
      work();
    };
    const fail = () => settle(() => reject(new Error('the connection ended')));
    const attempt = () => {
      const read: Buffer | null = socket.read(bytes);
      // At the end of the stream, there may be fewer.
      if (read?.length === bytes) settle(() => resolve(read));
      else if (read || socket.readableEnded || socket.destroyed) fail();
    };
    socket.on('readable', attempt).on('end', fail).on('close', fail);
    attempt();
  });
}
