import { once } from 'node:events';
import { connect, type LookupFunction, type Socket } from 'node:net';

/** A connection to a site, and how many bytes of it belong to the way there. */
export interface Outgoing {
  socket: Socket;
  /** What the upstream proxy's handshake took, in bytes: none of the browser's. */
  overhead: number;
}

/** Bound on being connected, in ms: what Chromium itself waits for. */
const CONNECT_MS = 30_000;

interface Address {
  address: string;
  family: number;
}

/**
 * Connects to a host at the addresses that were judged: a second look-up might answer otherwise.
 * @throws the system's error, with its `code`; an AbortError when the signal fires or after 30 s
 */
export async function connectDirectly(
  host: string,
  port: number,
  addresses: readonly Address[],
  signal: AbortSignal,
): Promise<Outgoing> {
  const pinned: LookupFunction = (_host, options, callback) => {
    const [first] = addresses;
    if (options.all) callback(null, [...addresses]);
    else callback(null, first?.address ?? '', first?.family);
  };
  // Half-open: a site that has sent all it has may still be listening.
  const socket = connect({ host, port, lookup: pinned, allowHalfOpen: true, noDelay: true });
  try {
    await once(socket, 'connect', { signal: AbortSignal.any([signal, AbortSignal.timeout(CONNECT_MS)]) });
  } catch (error) {
    socket.destroy();
    throw error;
  }
  return { socket, overhead: 0 };
}

/** Connects to a host through a SOCKS5 proxy, which looks the name up. @throws what keeps it from that */
export async function connectThrough(upstream: string, host: string, port: number): Promise<Outgoing> {
  // Loaded where there is an upstream proxy, and nowhere else.
  const { SocksClient } = await import('socks');
  const { hostname, port: proxyPort, username, password } = new URL(upstream);
  const { socket } = await SocksClient.createConnection({
    proxy: {
      host: hostname.replace(/^\[|\]$/g, ''),
      port: Number(proxyPort || SOCKS_PORT),
      type: 5,
      ...(username && { userId: decodeURIComponent(username), password: decodeURIComponent(password) }),
    },
    command: 'connect',
    destination: { host, port },
    timeout: CONNECT_MS,
    set_tcp_nodelay: true,
  });
  return { socket, overhead: socket.bytesRead + socket.bytesWritten };
}

const SOCKS_PORT = 1080;
