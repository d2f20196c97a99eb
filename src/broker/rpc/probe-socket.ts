import { connect } from 'node:net';

/** The state of a broker's socket; `unclear`: unknown, for example because it belongs to another user. */
export type SocketProbe = 'responds' | 'nobody' | 'unclear';

/** A broker that accepts the connection but stays silent for this long is alive, too, in ms. */
const SOCKET_TIMEOUT_MS = 2_000;

/** Whether a broker listens at a socket: one that was killed has left the file. Never rejects. */
export async function probeSocket(path: string): Promise<SocketProbe> {
  if (path === '') return 'unclear';
  return await new Promise((resolve) => {
    const socket = connect({ path });
    const settle = (probe: SocketProbe) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(probe);
    };
    const timer = setTimeout(() => settle('responds'), SOCKET_TIMEOUT_MS);
    socket.once('connect', () => settle('responds'));
    socket.once('error', ({ code }: NodeJS.ErrnoException) =>
      settle(code === 'ENOENT' || code === 'ECONNREFUSED' ? 'nobody' : 'unclear'),
    );
  });
}
