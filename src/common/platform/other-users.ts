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
    const user = userOf(socket);
    // Root can read everything anyway.
    if (user !== own && user !== 0) socket.destroy();
  });
}

/** The user ID of the other end; null: unknown. */
function userOf({ remotePort = 0, localPort = 0 }: Socket): number | null {
  const lines = LISTS.flatMap((path) => linesOf(path));
  for (const line of lines) {
    const [, local = '', remote = '', , , , , user] = line.trim().split(/\s+/);
    if (portOf(local) === remotePort && portOf(remote) === localPort) return Number(user);
  }
  return null;
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
