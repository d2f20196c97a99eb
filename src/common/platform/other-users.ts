import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';

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
