import { pipeline, type Readable } from 'node:stream';
import type { BrotliDecompress, Gunzip, Inflate } from 'node:zlib';

type Decoder = Gunzip | Inflate | BrotliDecompress;

/** The body of an answer, decoded, and read as it is wanted: what is not asked for stays with the server. */
export class AnswerBody {
  readonly #source: Readable;
  readonly #decoder: Decoder | undefined;
  readonly #chunks: AsyncIterator<Buffer>;
  readonly #onRead: (bytes: number) => void;

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

  /** The rest of it is not wanted. */
  cancel(): void {
    this.#source.destroy();
  }

  async #next(): Promise<Buffer | null> {
    try {
      const { done, value } = await this.#chunks.next();
      if (done) return null;
      this.#onRead(value.length);
      return value;
    } catch (error) {
      // Nothing at all, whatever it is said to be encoded with, is nothing.
      if ((error as NodeJS.ErrnoException).code === 'Z_BUF_ERROR' && this.#decoder?.bytesWritten === 0) return null;
      throw error;
    }
  }
}
