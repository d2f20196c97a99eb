import { pipeline, type Readable } from 'node:stream';
import type { BrotliDecompress, Gunzip, Inflate } from 'node:zlib';

type Decoder = Gunzip | Inflate | BrotliDecompress;

/** What comes within so many ms of each other goes on together: parts of a stream, and of what is only large. */
const PART_MS = 2;
const BULK_MS = 40;
/** A chunk of what is only large has at least so many bytes. */
const BULK_BYTES = 16 * 1024;

/** The body of an answer, decoded, and read as it is wanted: what is not asked for stays with the server. */
export class AnswerBody {
  readonly #source: Readable;
  readonly #decoder: Decoder | undefined;
  readonly #chunks: AsyncIterator<Buffer>;
  readonly #onRead: (bytes: number) => void;
  #read = 0;
  /** The chunk that was waited for in vain: it is the next one. */
  #coming: Promise<Buffer | null> | null = null;

  /** @param onRead told of each chunk that is read, decoded */
  constructor(source: Readable, decoder: Decoder | undefined, onRead: (bytes: number) => void) {
    this.#source = source;
    this.#onRead = onRead;
    this.#decoder = decoder;
    // A reader is told of errors; while nobody reads, they are nobody's.
    source.on('error', () => undefined);
    const body = decoder ? pipeline(source, decoder, () => undefined) : source;
    this.#chunks = body[Symbol.asyncIterator]();
  }

  /** What was read of it, as it crossed the network, in bytes. */
  get encodedBytes(): number {
    return this.#decoder?.bytesWritten ?? this.#read;
  }

  /**
   * The next `bytes` of it, or somewhat more (a chunk is not cut); fewer only at its end.
   * @throws Error when the connection breaks, or what came cannot be decoded
   */
  async read(bytes: number): Promise<Buffer> {
    const pieces: Buffer[] = [];
    let size = 0;
    while (size < bytes) {
      const chunk = await this.#next();
      if (chunk === null) break;
      pieces.push(chunk);
      size += chunk.length;
    }
    return Buffer.concat(pieces, size);
  }

  /**
   * What comes of it within `ms`, as far as it is no more than `bytes`; `ended`: nothing comes any more. Where it breaks
   * behind what came, the next read throws.
   */
  async readWithin(bytes: number, ms: number): Promise<{ begun: Buffer; ended: boolean }> {
    const deadline = performance.now() + ms;
    const pieces: Buffer[] = [];
    let size = 0;
    while (size < bytes) {
      const chunk = await this.#nextWithin(deadline - performance.now()).catch((error) => this.#putOff(error));
      if (chunk === 'late') return { begun: Buffer.concat(pieces, size), ended: false };
      if (chunk === null) return { begun: Buffer.concat(pieces, size), ended: true };
      pieces.push(chunk);
      size += chunk.length;
    }
    return { begun: Buffer.concat(pieces, size), ended: false };
  }

  /**
   * What comes next, waited for, with all that is there by then, somewhat more than `bytes` at most; null at its end.
   * @throws Error when the connection breaks, or what came cannot be decoded
   */
  async readNext(bytes: number): Promise<Buffer | null> {
    const pieces: Buffer[] = [];
    let size = 0;
    let chunk: Buffer | null | 'late' = await this.#next();
    while (chunk !== null && chunk !== 'late') {
      pieces.push(chunk);
      size += chunk.length;
      if (size >= bytes) break;
      chunk = await this.#nextWithin(chunk.length < BULK_BYTES ? PART_MS : BULK_MS);
    }
    return size === 0 ? null : Buffer.concat(pieces, size);
  }

  /** The rest of it is not wanted. */
  cancel(): void {
    this.#source.destroy();
  }

  /** The head of an answer is one, however soon its body breaks: that is for the next read. */
  #putOff(error: Error): 'late' {
    this.#coming = Promise.reject(error);
    this.#coming.catch(() => undefined);
    return 'late';
  }

  async #nextWithin(ms: number): Promise<Buffer | null | 'late'> {
    this.#coming ??= this.#take();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<'late'>((resolve) => {
      timer = setTimeout(resolve, Math.max(0, ms), 'late');
    });
    const chunk = await Promise.race([this.#coming, late]).finally(() => clearTimeout(timer));
    if (chunk !== 'late') this.#coming = null;
    return chunk;
  }

  async #next(): Promise<Buffer | null> {
    const coming = this.#coming ?? this.#take();
    this.#coming = null;
    return await coming;
  }

  async #take(): Promise<Buffer | null> {
    try {
      const { done, value } = await this.#chunks.next();
      if (done) return null;
      this.#read += value.length;
      this.#onRead(value.length);
      return value;
    } catch (error) {
      // Nothing at all, whatever it is said to be encoded with, is nothing.
      if ((error as NodeJS.ErrnoException).code === 'Z_BUF_ERROR' && this.#decoder?.bytesWritten === 0) return null;
      throw error;
    }
  }
}
