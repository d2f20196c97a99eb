import type { Readable } from 'node:stream';
import { monotonicNow } from '../../../common/clock.ts';
import { within } from '../../../common/pause.ts';
import type { Decoding } from './content-encoding.ts';

/**
 * Chunks that arrive within this time, in ms, are passed on together: for streams, and for bodies that are just large.
 */
const PART_MS = 2;
const BULK_MS = 40;
/** The minimum chunk size of a body that is just large, in bytes. */
const BULK_BYTES = 16 * 1024;

/** A response's body, decoded and read on demand: the rest stays with the server. */
export class ResponseBody {
  readonly #source: Readable;
  readonly #chunks: AsyncIterator<Buffer>;
  readonly #paced: (bytes: number) => Promise<void> | undefined;
  /** The next chunk, if an earlier wait for it timed out. */
  #coming: Promise<Buffer | null> | null = null;
  /** Bytes read so far, encoded as on the network. */
  encodedBytes = 0;

  /** @param paced resolves when so many more encoded bytes may have arrived */
  constructor(
    source: Readable,
    decoding: Decoding | null,
    paced: (bytes: number) => Promise<void> | undefined = () => undefined,
  ) {
    this.#paced = paced;
    this.#source = source;
    // Readers handle errors; until there is a reader, errors are ignored.
    source.on('error', () => undefined);
    const encoded = this.#counted(source);
    this.#chunks = (decoding?.(encoded) ?? encoded)[Symbol.asyncIterator]();
  }

  /**
   * Reads the next `bytes`, or slightly more (chunks are not split); fewer only at the end.
   * @throws Error when the connection breaks, or decoding fails
   */
  async read(bytes: number): Promise<Buffer> {
    return (await this.#collect(bytes, () => this.#next())).begun;
  }

  /**
   * Reads what arrives within `ms`, up to `bytes`; `ended` if nothing more follows. If the connection breaks after
   * that, the next read throws.
   */
  async readWithin(bytes: number, ms: number): Promise<{ begun: Buffer; ended: boolean }> {
    const deadline = monotonicNow() + ms;
    const next = () => this.#nextWithin(deadline - monotonicNow()).catch((error) => this.#putOff(error));
    return await this.#collect(bytes, next);
  }

  /**
   * Waits for the next chunk and returns it with all that has arrived by then, at most slightly more than `bytes`; null
   * at the end.
   * @throws Error when the connection breaks, or decoding fails, and everything that arrived before was read
   */
  async readNext(bytes: number): Promise<Buffer | null> {
    const { begun } = await this.#collect(bytes, (last) => {
      if (!last) return this.#next();
      const ms = last.length < BULK_BYTES ? PART_MS : BULK_MS;
      return this.#nextWithin(ms).catch((error) => this.#putOff(error));
    });
    return begun.length === 0 ? null : begun;
  }

  /** The rest is not needed. */
  cancel(): void {
    this.#source.destroy();
  }

  /** Collects `bytes`, or less at the end or at the deadline. @param next called with the previous chunk */
  async #collect(
    bytes: number,
    next: (last: Buffer | undefined) => Promise<Buffer | null | 'late'>,
  ): Promise<{ begun: Buffer; ended: boolean }> {
    const pieces: Buffer[] = [];
    let size = 0;
    while (size < bytes) {
      const chunk = await next(pieces.at(-1));
      if (chunk === null || chunk === 'late') return { begun: Buffer.concat(pieces, size), ended: chunk === null };
      pieces.push(chunk);
      size += chunk.length;
    }
    return { begun: Buffer.concat(pieces, size), ended: false };
  }

  /** The head of a response is valid even if its body breaks at once: the next read reports the error. */
  #putOff(error: Error): 'late' {
    this.#coming = Promise.reject(error);
    this.#coming.catch(() => undefined);
    return 'late';
  }

  async #nextWithin(ms: number): Promise<Buffer | null | 'late'> {
    this.#coming ??= this.#take();
    const chunk = await within(this.#coming, ms, 'late' as const);
    if (chunk !== 'late') this.#coming = null;
    return chunk;
  }

  async #next(): Promise<Buffer | null> {
    const coming = this.#coming ?? this.#take();
    this.#coming = null;
    return await coming;
  }

  async #take(): Promise<Buffer | null> {
    const { done, value } = await this.#chunks.next();
    return done ? null : value;
  }

  async *#counted(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      this.encodedBytes += chunk.length;
      await this.#paced(chunk.length);
      yield chunk;
    }
  }
}
