import type { Socket } from 'node:net';

/** Bytes that pages sent and received. */
export interface Traffic {
  sent: number;
  received: number;
}

/**
 * Counts what pages send and receive through this machine, on its connections to their servers: heads and bodies as
 * they cross the network, and WebSocket frames, without TLS. A file counts as received.
 */
export class ProxiedTraffic {
  readonly #open = new Set<Socket>();
  readonly #closed: Traffic = { sent: 0, received: 0 };

  /** Bytes so far. */
  total(): Traffic {
    const total = { ...this.#closed };
    for (const socket of this.#open) add(total, socket);
    return total;
  }

  /** Counts a new connection to a server. */
  follow(socket: Socket): void {
    this.#open.add(socket);
    socket.once('close', () => {
      this.#open.delete(socket);
      add(this.#closed, socket);
    });
  }

  /** Counts a file. */
  receive(bytes: number): void {
    this.#closed.received += bytes;
  }
}

function add(total: Traffic, { bytesWritten, bytesRead }: Socket): void {
  total.sent += bytesWritten;
  total.received += bytesRead;
}
