import { once } from 'node:events';
import { WebSocket } from 'ws';

// biome-ignore lint/suspicious/noExplicitAny: tests inspect the raw data
type Message = any;

/** A minimal CDP client: it only sends and receives. */
export class RawLink {
  /** Received messages that are not responses to `send`. */
  readonly events: Message[] = [];
  /** Resolves with the code that the connection was closed with. */
  readonly closed: Promise<number>;
  readonly #socket: WebSocket;
  readonly #asked = new Map<number, { resolve: (result: Message) => void; reject: (error: Error) => void }>();
  #lastId = 1_000_000;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    this.closed = new Promise((resolve) => socket.once('close', resolve));
    socket.on('message', (data) => this.#receive(JSON.parse(String(data))));
  }

  static async open(cdpUrl: string): Promise<RawLink> {
    const socket = new WebSocket(cdpUrl);
    await once(socket, 'open');
    return new RawLink(socket);
  }

  send(method: string, params: object = {}, sessionId?: string): Promise<Message> {
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      this.#asked.set(id, { resolve, reject });
      this.write(JSON.stringify({ id, method, params, sessionId }));
    });
  }

  /** Sends a string as a text message, a buffer as a binary one. */
  write(message: string | Buffer): void {
    this.#socket.send(message);
  }

  close(): void {
    this.#socket.close();
  }

  #receive(message: Message): void {
    const asked = this.#asked.get(message.id);
    if (!asked) {
      this.events.push(message);
      return;
    }
    this.#asked.delete(message.id);
    if (message.error) asked.reject(new Error(message.error.message));
    else asked.resolve(message.result);
  }
}
