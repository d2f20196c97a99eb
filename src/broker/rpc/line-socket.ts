import type { Socket } from 'node:net';
import { parsedJson } from '../../common/text/parsed-json.ts';

/** Increases whenever messages change: two sides with different versions cannot talk to each other. */
export const PROTOCOL_VERSION = 7;

/** Options of a {@link LineSocket}. */
export interface LineSocketOptions {
  /** Called with each message in order. */
  onMessage(message: object): void;
  /** Length limit of a received message, in characters. */
  maxLength: number;
}

/**
 * Messages over a socket: one JSON object per line. Closes the socket on any other input and on a line that is too
 * long.
 */
export class LineSocket {
  /** The parts of an incomplete line. */
  #parts: string[] = [];
  #length = 0;
  readonly #socket: Socket;
  readonly #options: LineSocketOptions;

  /** @param socket without other readers */
  constructor(socket: Socket, options: LineSocketOptions) {
    this.#socket = socket;
    this.#options = options;
    socket.setEncoding('utf8');
    socket.on('data', (chunk: string) => this.#read(chunk));
  }

  /**
   * Returns false if the other side reads more slowly than this side writes. Does nothing once the socket is closed.
   */
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
    const message = parsedJson(line);
    if (typeof message !== 'object' || message === null) return this.#cutOff();
    this.#options.onMessage(message);
    return !this.#socket.destroyed;
  }

  #cutOff(): false {
    this.#parts = [];
    this.#socket.destroy();
    return false;
  }
}
