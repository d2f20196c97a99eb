import type { Readable, Writable } from 'node:stream';
import * as v from 'valibot';
import { EmulatorError } from '../../errors.ts';

const message = v.looseObject({
  id: v.optional(v.number()),
  result: v.optional(v.record(v.string(), v.unknown())),
  error: v.optional(v.looseObject({ message: v.string() })),
  sessionId: v.optional(v.string()),
});

const END = Buffer.alloc(1);
/** Below, one write of a copy is faster than two. */
const LARGE_BYTES = 64 * 1024;

interface Pending {
  sessionId: string | undefined;
  resolve: (result: Record<string, unknown>) => void;
  reject: (error: Error) => void;
}

/** Takes a message of Chromium's and tells whether it was its own; it may change the bytes. */
export type MessageTaker = (message: Buffer) => boolean;

/** The only line to a Chromium: CDP over `--remote-debugging-pipe`, JSON messages ended by a zero byte. */
export class CdpPipe {
  /** Resolves when Chromium says nothing more. */
  readonly closed: Promise<void>;
  readonly #input: Writable;
  readonly #pending = new Map<number, Pending>();
  #taker: MessageTaker | undefined;
  #resolveClosed: () => void = () => undefined;
  #lastId = 0;
  #chunks: Buffer[] = [];

  constructor(input: Writable, output: Readable) {
    this.#input = input;
    this.closed = new Promise((resolve) => {
      this.#resolveClosed = resolve;
    });
    // An ended Chromium sends no response; its exit is handled elsewhere.
    input.on('error', () => this.#close());
    output.on('error', () => this.#close());
    output.on('close', () => this.#close());
    output.on('data', (chunk: Buffer) => this.#read(chunk));
  }

  /** From now on every message goes to `taker` first. */
  giveTo(taker: MessageTaker): void {
    this.#taker = taker;
  }

  /** The emulator's own command. */
  send(method: string, params: object = {}, sessionId?: string): Promise<Record<string, unknown>> {
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      if (!this.#input.writable) return reject(closed());
      this.#pending.set(id, { sessionId, resolve, reject });
      this.write(JSON.stringify({ id, method, params, sessionId }));
    });
  }

  /** A whole message, as it is: a large one without a copy. */
  write(message: Buffer | string): void {
    const input = this.#input;
    if (!input.writable) return;
    if (typeof message === 'string') {
      input.write(`${message}\0`);
    } else if (message.length < LARGE_BYTES) {
      input.write(Buffer.concat([message, END]));
    } else {
      input.cork();
      input.write(message);
      input.write(END);
      input.uncork();
    }
  }

  #read(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(0); end !== -1; end = chunk.indexOf(0, start)) {
      const last = chunk.subarray(start, end);
      this.#dispatch(this.#chunks.length === 0 ? last : Buffer.concat([...this.#chunks, last]));
      this.#chunks = [];
      start = end + 1;
    }
    if (start < chunk.length) this.#chunks.push(chunk.subarray(start));
  }

  #dispatch(bytes: Buffer): void {
    if (this.#taker?.(bytes)) return;
    const { id, result, error, sessionId } = v.parse(message, JSON.parse(bytes.toString()));
    const pending = id === undefined ? undefined : this.#pending.get(id);
    // A late response to a client that has left may have the same number.
    if (id === undefined || !pending || pending.sessionId !== sessionId) return;
    this.#pending.delete(id);
    if (error) pending.reject(new EmulatorError('EMULATOR_START_FAILED', `Chromium responded: ${error.message}`));
    else pending.resolve(result ?? {});
  }

  #close(): void {
    for (const { reject } of this.#pending.values()) reject(closed());
    this.#pending.clear();
    this.#resolveClosed();
  }
}

function closed(): EmulatorError {
  return new EmulatorError('EMULATOR_START_FAILED', 'Chromium has ended.');
}
