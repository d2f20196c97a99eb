import { once } from 'node:events';
import { connect, type LookupFunction, type Socket } from 'node:net';

/** A connection to a site, and how many bytes of it belong to the way there. */
export interface Outgoing {
  socket: Socket;
  /** What the upstream proxy's handshake took, in bytes: none of the browser's. */
  overhead: number;
}

/** Bound on being connected, in ms: what Chromium itself waits for. */
export const CONNECT_MS = 30_000;

interface Address {
  address: string;
  family: number;
}

/**
 * Connects to a host at the checked addresses, because a second lookup might return others.
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
