import type { Socket } from 'node:net';

/** Counts up when messages change: two sides of different versions do not understand each other. */
export const PROTOCOL_VERSION = 2;

/** What is on the other side of a socket, and what it is allowed. */
export interface LineSocketOptions {
  /** Called with each message, in their order. */
  onMessage(message: object): void;
  /** Characters of the longest message that it may send. */
  maxLength: number;
}

/** Messages over a socket: one JSON object a line. Who sends anything else, or a line that is too long, is cut off. */
export class LineSocket {
  /** The beginning of a line that is not whole yet. */
  #parts: string[] = [];
  #length = 0;

  readonly #socket: Socket;
  readonly #options: LineSocketOptions;

  /** @param socket one that nobody reads yet */
  constructor(socket: Socket, options: LineSocketOptions) {
    this.#socket = socket;
    this.#options = options;
    socket.setEncoding('utf8');
    socket.on('data', (chunk: string) => this.#read(chunk));
  }

  /** False: the other side does not read as fast as is written. Nothing happens once the socket is closed. */
  send(message: object): boolean {
    return !this.#socket.writable || this.#socket.write(`${JSON.stringify(message)}\n`);
  }

  #read(chunk: string): void {
    let start = 0;
    for (let end = chunk.indexOf('\n'); end !== -1; end = chunk.indexOf('\n', start)) {
      if (!this.#add(chunk.slice(start, end))) return;
      const line = this.#parts.join('');
      this.#parts = [];
      this.#length = 0;
      start = end + 1;
      if (!this.#deliver(line)) return;
    }
    if (start < chunk.length) this.#add(chunk.slice(start));
  }

  #add(part: string): boolean {
    this.#length += part.length;
    if (this.#length > this.#options.maxLength) return this.#cutOff();
    this.#parts.push(part);
    return true;
  }

  #deliver(line: string): boolean {
    const message = parsed(line);
    if (!message) return this.#cutOff();
    this.#options.onMessage(message);
    return !this.#socket.destroyed;
  }

  #cutOff(): false {
    this.#parts = [];
    this.#socket.destroy();
    return false;
  }
}

/** Null: no object. */
function parsed(line: string): object | null {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' ? value : null;
  } catch {
    return null;
  }
}
