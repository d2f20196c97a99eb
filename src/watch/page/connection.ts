import type { PictureHeader, ViewMessage } from '../messages.ts';
import type { PageMessage } from '../server/page-messages.ts';

/** Before the first and the last try to connect again. */
const RETRY_MS = 500;
const MAX_RETRY_MS = 5_000;

export interface ConnectionEvents {
  onView(message: ViewMessage, isFirst: boolean): void;
  /** The picture is acknowledged when the promise resolves: it is decoded, and drawn soon. */
  onPicture(header: PictureHeader, jpeg: Blob): Promise<void>;
  onOpen(): void;
  /** @param isRefused whether the server responds, and does not know this browser */
  onLost(isRefused: boolean): void;
}

/** The WebSocket to the server. It opens again when the server comes back. */
export class Connection {
  readonly #events: ConnectionEvents;
  #socket: WebSocket | null = null;
  #retryMs = RETRY_MS;

  constructor(events: ConnectionEvents) {
    this.#events = events;
    this.#open();
  }

  /** Dropped while there is no connection. */
  send(message: PageMessage): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }

  #open(): void {
    const socket = new WebSocket(new URL('socket', location.href.replace(/^http/, 'ws')));
    socket.binaryType = 'arraybuffer';
    this.#socket = socket;
    let isFirst = true;
    socket.addEventListener('open', () => {
      this.#retryMs = RETRY_MS;
      this.#events.onOpen();
    });
    socket.addEventListener('message', ({ data }) => {
      if (typeof data !== 'string') {
        void this.#show(data);
        return;
      }
      this.#events.onView(JSON.parse(data), isFirst);
      isFirst = false;
    });
    socket.addEventListener('close', () => void this.#onClose());
  }

  async #show(data: ArrayBuffer): Promise<void> {
    const length = new DataView(data).getUint32(0);
    const header: PictureHeader = JSON.parse(new TextDecoder().decode(new Uint8Array(data, 4, length)));
    try {
      await this.#events.onPicture(header, new Blob([new Uint8Array(data, 4 + length)], { type: 'image/jpeg' }));
    } finally {
      this.send({ type: 'shown', number: header.number });
    }
  }

  async #onClose(): Promise<void> {
    const response = await fetch(location.href).catch(() => null);
    this.#events.onLost(response?.status === 403);
    setTimeout(() => this.#open(), this.#retryMs);
    this.#retryMs = Math.min(this.#retryMs * 2, MAX_RETRY_MS);
  }
}
