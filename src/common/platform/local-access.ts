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

/** Linux's lists of connections. A program that uses IPv6 for everything is in the second one. */
const LISTS = ['/proc/net/tcp', '/proc/net/tcp6'];
/** 127.0.0.1 there: its bytes as a number of this machine. */
const LOOPBACK = new Uint32Array(new Uint8Array([127, 0, 0, 1]).buffer)[0]?.toString(16).toUpperCase().padStart(8, '0');

/** Makes a server on 127.0.0.1 disconnect other users of this machine. */
export function refuseOtherUsers(server: Server): void {
  server.on('connection', (socket: Socket) => {
    if (!isOfThisUser(socket)) socket.destroy();
  });
}

/**
 * Whether a program of this process's user, or of root, who can read everything anyway, is at the other end of a
 * connection over 127.0.0.1. Only Linux tells, and only with access to its lists: elsewhere, every program counts.
 */
export function isOfThisUser({ localPort, remoteAddress, remotePort }: Socket): boolean {
  const own = process.getuid?.();
  if (process.platform !== 'linux' || own === undefined) return true;
  const lines = LISTS.flatMap(linesOf);
  if (lines.length === 0) return true;
  // 127.0.0.2 may use the port of a connection of this user's.
  if (remoteAddress !== '127.0.0.1') return false;
  const [peer, here] = [inList(remotePort), inList(localPort)];
  return lines.some((line) => {
    // sl, local, remote, state, queues, timer, retransmits, uid, timeout, inode
    const [, local = '', remote = '', , , , , user, , inode] = line.trim().split(/\s+/);
    // A connection that its program has closed has no inode, and the ID of root.
    return local.endsWith(peer) && remote.endsWith(here) && inode !== '0' && [own, 0].includes(Number(user));
  });
}

function linesOf(path: string): string[] {
  try {
    return readFileSync(path, 'latin1').split('\n').slice(1);
  } catch {
    return []; // a system without IPv6
  }
}

/** `0100007F:1F90` */
function inList(port = 0): string {
  return `${LOOPBACK}:${port.toString(16).toUpperCase().padStart(4, '0')}`;
}
