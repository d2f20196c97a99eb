import { Duplex } from 'node:stream';
import * as v from 'valibot';
import { parsedJson } from '../common/text/parsed-json.ts';

/**
 * Connections that a relay makes through a worker, on the connection of the two. A frame is one byte with its kind,
 * four with the number of the stream, and content. The other binary frames are JSON, which begins differently.
 */

const KINDS = { dial: 1, connected: 2, data: 3, end: 4, failed: 5, read: 6 } as const;
type Kind = keyof typeof KINDS;
const NAMES = new Map(Object.entries(KINDS).map(([name, kind]) => [kind as number, name as Kind]));
const HEAD_BYTES = 5;
/** How much a stream may send that the other end has not read: at 100 ms, that is 40 MB a second. */
const WINDOW_BYTES = 4 * 1024 * 1024;

const destination = v.strictObject({
  host: v.string(),
  port: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(65_535)),
  /** Whose request it is: one of a page, or one that the test makes itself, such as `page.request`. */
  by: v.picklist(['page', 'test']),
});
const failure = v.strictObject({ code: v.string() });

/** A server that the relay dials, from the worker's machine. */
export type Destination = v.InferOutput<typeof destination>;

/** Sends a frame. @param sent called when it has left this process */
type Send = (frame: Buffer, sent: (error?: Error | null) => void) => void;

export function isStreamFrame(data: Buffer): boolean {
  return NAMES.has(data[0] ?? 0);
}

/**
 * One end of a connection. It looks like a socket to libraries that use one. A source that is faster than its reader
 * has to wait: an end sends no more than a window, and the other end tells it how much was read.
 */
export class TunnelStream extends Duplex {
  bytesRead = 0;
  readonly #send: (kind: Kind, content: Buffer, sent: (error?: Error | null) => void) => void;
  #isOver = false;
  /** How much more may be sent now. */
  #window = WINDOW_BYTES;
  /** What waits to be sent. */
  #unsent: { content: Buffer; done: (error?: Error | null) => void } | null = null;
  /** What waits to be read; null is the end. */
  readonly #unread: (Buffer | null)[] = [];
  #isWanted = false;
  /** How much was read that the other end does not know of. */
  #read = 0;

  constructor(send: (kind: Kind, content: Buffer, sent: (error?: Error | null) => void) => void) {
    super({ allowHalfOpen: true });
    this.#send = send;
  }

  /** The worker is connected. */
  accept(): void {
    this.#send('connected', Buffer.alloc(0), () => undefined);
  }

  /** The worker is not connected, or no longer. @param code Node's name of the error */
  fail(code: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#send('failed', Buffer.from(JSON.stringify({ code })), () => undefined);
    this.destroy();
  }

  /** A frame of the other end. */
  receive(kind: Kind, content: Buffer): void {
    if (kind === 'connected') this.emit('connect');
    if (kind === 'read' && content.length >= 4) {
      this.#window += content.readUInt32BE(0);
      this.#sendUnsent();
    }
    if (kind === 'data') this.bytesRead += content.length;
    if (kind === 'data' || kind === 'end') {
      this.#unread.push(kind === 'end' ? null : content);
      this.#pushUnread();
    }
    if (kind !== 'failed') return;
    this.#isOver = true;
    const parsed = v.safeParse(failure, parsedJson(content.toString()));
    const code = parsed.success ? parsed.output.code : 'ECONNRESET';
    this.destroy(Object.assign(new Error(`connection through the test machine: ${code}`), { code }));
  }

  override _read(): void {
    this.#isWanted = true;
    this.#pushUnread();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#unsent = { content: chunk, done };
    this.#sendUnsent();
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#send('end', Buffer.alloc(0), done);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#unsent = null;
    this.#unread.length = 0;
    if (!this.#isOver && !(this.readableEnded && this.writableFinished)) {
      this.#isOver = true;
      this.#send('failed', Buffer.from(JSON.stringify({ code: 'ECONNRESET' })), () => undefined);
    }
    done(error);
  }

  #sendUnsent(): void {
    while (this.#unsent && this.#window > 0) {
      const { content, done } = this.#unsent;
      const part = content.subarray(0, this.#window);
      const isLast = part.length === content.length;
      this.#window -= part.length;
      this.#unsent = isLast ? null : { content: content.subarray(part.length), done };
      this.#send('data', part, isLast ? done : () => undefined);
    }
  }

  #pushUnread(): void {
    while (this.#isWanted && this.#unread.length > 0) {
      const content = this.#unread.shift() ?? null;
      // Before the push, which may ask for more.
      this.#isWanted = false;
      if (this.push(content)) this.#isWanted = true;
      this.#read += content?.length ?? 0;
    }
    if (this.#read < WINDOW_BYTES / 2 || this.#isOver) return;
    const count = Buffer.alloc(4);
    count.writeUInt32BE(this.#read);
    this.#read = 0;
    this.#send('read', count, () => undefined);
  }

  // Options of a socket, without an effect here: the connection of the two machines sets its own.
  readonly setTimeout = () => this;
  readonly setNoDelay = () => this;
  readonly setKeepAlive = () => this;
  readonly ref = () => this;
  readonly unref = () => this;
}

/** All streams of a connection, at one of its ends. */
export class Streams {
  readonly #streams = new Map<number, TunnelStream>();
  readonly #send: Send;
  readonly #onDial: ((stream: TunnelStream, to: Destination) => void) | undefined;
  #last = 0;

  /** @param onDial the other end dials; without it, only this end does */
  constructor(send: Send, onDial?: (stream: TunnelStream, to: Destination) => void) {
    this.#send = send;
    this.#onDial = onDial;
  }

  /** Connects to a server from the other end's machine. */
  dial(to: Destination): TunnelStream {
    this.#last += 1;
    const id = this.#last;
    const stream = this.#make(id);
    this.#post('dial', id, Buffer.from(JSON.stringify(to)), () => undefined);
    return stream;
  }

  /** Takes a frame for which {@link isStreamFrame} holds. */
  receive(data: Buffer): void {
    if (data.length < HEAD_BYTES) return;
    const kind = NAMES.get(data.readUInt8(0));
    const id = data.readUInt32BE(1);
    const content = data.subarray(HEAD_BYTES);
    if (kind === 'dial') this.#accept(id, content);
    else if (kind) this.#streams.get(id)?.receive(kind, content);
  }

  /** The connection is closed. */
  end(): void {
    for (const stream of this.#streams.values()) stream.receive('failed', Buffer.alloc(0));
  }

  #accept(id: number, content: Buffer): void {
    const to = v.safeParse(destination, parsedJson(content.toString()));
    if (!to.success || !this.#onDial || this.#streams.has(id)) return;
    this.#onDial(this.#make(id), to.output);
  }

  #make(id: number): TunnelStream {
    const stream = new TunnelStream((kind, content, sent) => this.#post(kind, id, content, sent));
    this.#streams.set(id, stream);
    stream.once('close', () => this.#streams.delete(id));
    // Its user listens, too.
    stream.on('error', () => undefined);
    return stream;
  }

  #post(kind: Kind, id: number, content: Buffer, sent: (error?: Error | null) => void): void {
    const head = Buffer.alloc(HEAD_BYTES);
    head.writeUInt8(KINDS[kind], 0);
    head.writeUInt32BE(id, 1);
    this.#send(Buffer.concat([head, content]), sent);
  }
}
