import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { mayBeHead, type ResponseHead, responseHead, sizeOfHead, UnusableResponse } from './response-head.ts';

/** Limit on the size of a head, in bytes: as in Chromium. */
const MAX_HEAD_BYTES = 256 * 1024;

/** The name of a header that tells which exchange a response belongs to. */
const EXCHANGE = '~exchange';

/** A response as it crossed its connection. */
export interface Exchange {
  head: ResponseHead;
  /** Of its body so far, with the framing of chunks. */
  bytes: number;
}

/** Whose responses have arrived, but were not taken yet. */
const arrived = new Map<string, Exchange>();
let last = 0;

/** The exchange of a response that undici has read from a {@link ResponseSocket}. */
export function takeExchange(headers: readonly string[]): Exchange | undefined {
  const id = headers[headers.indexOf(EXCHANGE) + 1] ?? '';
  const exchange = arrived.get(id);
  arrived.delete(id);
  return exchange;
}

/**
 * A connection to an HTTP/1 server, for undici, whose parser refuses much of what browsers accept. It reads each head
 * itself, as Chromium does, and passes on what the parser needs to find the end of the body.
 */
export class ResponseSocket extends Duplex {
  readonly #socket: Duplex;
  #exchange: Exchange | null = null;
  /** The head so far; null in a body. */
  #head: Buffer | null = null;
  #isUsed = false;
  #bytesRead = 0;
  /** How much was read before the present request, if it is not the first one. */
  #bytesBefore: number | null = null;
  /** What to do once undici has read everything. */
  #end: (() => void) | undefined;
  #isAsking = false;

  constructor(socket: Duplex) {
    super();
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => {
      this.#bytesRead += chunk.length;
      this.#pass(() => (this.#head ? this.#withHead(Buffer.concat([this.#head, chunk])) : this.#inBody(chunk)));
    });
    socket.once('end', () => {
      this.#pass(() => (this.#head?.length ? this.#cutHead(this.#head) : Buffer.alloc(0)));
      this.#endWith(() => this.push(null));
    });
    socket.once('error', (error) => this.#endWith(() => this.destroy(error)));
    socket.once('close', () => this.#endWith(() => this.destroy()));
  }

  /** A request is sent: a head is next. */
  begin(): void {
    this.#bytesBefore = this.#isUsed ? this.#bytesRead : null;
    this.#isUsed = true;
    this.#head = Buffer.alloc(0);
    this.#exchange = null;
  }

  /** Whether it responded to earlier requests, but not to the last one. */
  get isStale(): boolean {
    return this.#bytesRead === this.#bytesBefore;
  }

  /** undici keeps a process alive as long as it waits for a response. */
  ref(): void {
    (this.#socket as Partial<Socket>).ref?.();
  }

  unref(): void {
    (this.#socket as Partial<Socket>).unref?.();
  }

  override read(size?: number): unknown {
    const read: unknown = super.read(size);
    if (read === null && this.#isAsking) this.#end?.();
    // It may have resumed: then its parser still has something to do after this.
    else if (read === null && this.#end) process.nextTick(() => this.#ask());
    return read;
  }

  override _read(): void {
    this.#socket.resume();
  }

  override _write(chunk: Buffer, encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#socket.write(chunk, encoding, done);
  }

  override _final(done: () => void): void {
    this.#socket.end(done);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#socket.destroy();
    done(error);
  }

  /**
   * The server has ended the connection. A page may read more slowly than its server sends: undici pauses meanwhile,
   * and throws an uncaught error if it learns of the end then.
   */
  #endWith(end: () => void): void {
    this.#end ??= end;
    this.#ask();
  }

  /** undici reads at once until nothing is left, and then the connection ends; or it has paused, and reads nothing. */
  #ask(): void {
    if (this.destroyed) return;
    this.#isAsking = true;
    this.emit('readable');
    this.#isAsking = false;
  }

  #pass(read: () => Buffer): void {
    try {
      const passed = read();
      if (passed.length > 0 && !this.push(passed)) this.#socket.pause();
    } catch (error) {
      this.destroy(error as Error);
    }
  }

  /** Chromium shows what ends in its head, unless it is encrypted: somebody else may have cut it. */
  #cutHead(data: Buffer): Buffer {
    if (!(this.#socket as Partial<TLSSocket>).encrypted) return this.#withHead(data, data.length);
    throw new UnusableResponse('ERR_RESPONSE_HEADERS_TRUNCATED');
  }

  #inBody(chunk: Buffer): Buffer {
    if (this.#exchange) this.#exchange.bytes += chunk.length;
    return chunk;
  }

  #withHead(data: Buffer, size = sizeOfHead(data)): Buffer {
    this.#head = data;
    if (!mayBeHead(data)) throw new UnusableResponse('ERR_INVALID_HTTP_RESPONSE');
    if ((size ?? data.length) > MAX_HEAD_BYTES) throw new UnusableResponse('ERR_RESPONSE_HEADERS_TOO_BIG');
    if (size === null) return Buffer.alloc(0);
    const head = responseHead(data.toString('latin1', 0, size));
    const rest = data.subarray(size);
    // Informational responses precede it; pages see none of them.
    if (head.status < 200) return this.#withHead(rest);
    last += 1;
    this.#exchange = { head, bytes: 0 };
    arrived.set(String(last), this.#exchange);
    this.#head = null;
    const lines = [...head.framing, `${EXCHANGE}: ${last}`, '', ''].join('\r\n');
    return Buffer.concat([Buffer.from(lines, 'latin1'), this.#inBody(rest)]);
  }
}
