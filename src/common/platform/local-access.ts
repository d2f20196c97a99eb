import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';

/** 256 random bits. */
export function newSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** The time that it takes does not depend on the texts. */
export function isSame(one: string, other: string): boolean {
  const [a, b] = [one, other].map((text) => createHash('sha256').update(text).digest());
  return a !== undefined && b !== undefined && timingSafeEqual(a, b);
}

/**
 * Whether a request is for this server's address: a foreign web site could give its name our address. Without a port,
 * too, because ChromeDriver leaves it out.
 */
export function isOwnHost({ headers }: IncomingMessage, port: number): boolean {
  return ['127.0.0.1', 'localhost'].some((host) => headers.host === `${host}:${port}` || headers.host === host);
}

/**
 * Whether a web page, or a link on one, has made a request to a port that is for programs only. Browsers send `Origin`
 * with each WebSocket and each request that changes something, and `Sec-Fetch-Site` with all requests. Chromium's own
 * port refuses `Origin`, too.
 */
export function isFromPage({ headers }: IncomingMessage): boolean {
  return headers.origin !== undefined || (headers['sec-fetch-site'] ?? 'none') !== 'none';
}

/** The kernel's lists of connections. */
const LISTS = ['/proc/net/tcp', '/proc/net/tcp6'];

/**
 * Makes a server on loopback disconnect other users of this machine. Only on Linux: other systems tell nobody whose a
 * connection is.
 */
export function refuseOtherUsers(server: Server): void {
  const own = process.getuid?.();
  if (process.platform !== 'linux' || own === undefined) return;
  server.on('connection', (socket: Socket) => {
    if (!isOf(own, socket)) socket.destroy();
  });
}

/** Whether the other end is this user's, or root's, who can read everything anyway. */
function isOf(own: number, { remotePort, localPort }: Socket): boolean {
  const lines = LISTS.flatMap(linesOf);
  // A system that hides the lists tells nobody whose a connection is.
  if (lines.length === 0) return true;
  return lines.some((line) => {
    const [, local = '', remote = '', , , , , user] = line.trim().split(/\s+/);
    const isSame = portOf(local) === remotePort && portOf(remote) === localPort;
    return isSame && [own, 0].includes(Number(user));
  });
}

function linesOf(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').split('\n').slice(1);
  } catch {
    return []; // a system without IPv6
  }
}

/** `0100007F:1F90` */
function portOf(address: string): number {
  return Number.parseInt(address.split(':')[1] ?? '', 16);
}
