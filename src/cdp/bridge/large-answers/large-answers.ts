import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import type { BrowserCommands, InterceptorLink } from '../../transport/interceptor.ts';
import type { BridgedDocument, BridgedDocuments, HostsIn } from '../bridged-documents.ts';
import { PageBinding } from '../page-binding.ts';
import { howBroken } from '../requests/answer-forms.ts';
import type { BridgeAnswer } from '../requests/bridge-fetch.ts';
import type { PausedRequest } from '../requests/paused-request.ts';
import { KeptBodies } from './kept-bodies.ts';

/** What crosses the link at once, in bytes. */
const PIECE_BYTES = 2 * 1024 * 1024;

const said = v.variant('op', [
  v.object({ op: v.literal('more'), id: v.string() }),
  v.object({ op: v.literal('drop'), id: v.string() }),
  v.object({ op: v.literal('block'), url: v.string() }),
  v.object({ op: v.literal('ended'), id: v.string(), last: v.string() }),
]);

const taken = v.looseObject({ result: v.looseObject({ value: v.optional(v.boolean()) }) });

interface Parts {
  hostsIn: HostsIn;
  documents: BridgedDocuments;
}

/** A request whose answer is offered to its document. */
interface Offered extends PausedRequest {
  /** What the page has asked for, before any redirect: it knows the request by that. */
  asked: string;
}

/** An answer on its way to a document. */
interface Large {
  document: BridgedDocument;
  networkId: string;
  asked: string;
  /** What is read of it already, and not sent. */
  head: Buffer;
  rest: NonNullable<BridgeAnswer['rest']>;
  exchange: BridgeAnswer['exchange'];
  abort: AbortController;
  /** Of an event stream: called at its end with what the browser's own source is to read, or null where none is left. */
  onEnded?: (last: Buffer | null) => void;
}

/**
 * Answers that the browser cannot be handed as they come, because it takes each in one message: those that are larger
 * than a message may be, and those that come in parts. A script of the page that has asked for one is given it in pieces,
 * each when it is there and the script wants it: no side holds more of it than that, but for what Playwright may ask for.
 */
export class LargeAnswers {
  readonly binding: PageBinding;
  readonly kept: KeptBodies;
  readonly #documents: BridgedDocuments;
  readonly #commands: BrowserCommands;
  readonly #large = new Map<string, Large>();
  /** IDs of the last events of streams, by the addresses of their sources: the browser does not send these itself. */
  readonly #lastIds = new WeakMap<BridgedDocument, Map<string, string>>();
  /** Addresses of requests that block their page, which cannot take a piece meanwhile. */
  readonly #blocking = new WeakMap<BridgedDocument, Set<string>>();

  constructor(commands: InterceptorLink, parts: Parts) {
    this.#documents = parts.documents;
    this.#commands = commands;
    this.kept = new KeptBodies(commands);
    commands.model.onWorldEnd((world) => this.#leave(world));
    const hear = (document: BridgedDocument, payload: unknown) => this.#hear(document, payload);
    this.binding = new PageBinding(commands, parts, { kind: 'answers', code: 'page-answers.js', hear });
  }

  /** The document that a request may be of. */
  documentOf({ sessionId, frameId }: PausedRequest): BridgedDocument | undefined {
    return this.#documents.inFrame(sessionId, frameId);
  }

  /** The last ID that sources of an address have read in the document of a request, if any. */
  lastEventId(paused: PausedRequest, asked: string): string | undefined {
    const document = this.documentOf(paused);
    return document && this.#lastIds.get(document)?.get(asked);
  }

  /** Whether a script of the document waits for this answer, and will take its body. */
  async offer(paused: Offered, answer: BridgeAnswer, abort: AbortController): Promise<boolean> {
    const isTaken = await this.#offer(paused, answer, { abort });
    if (isTaken) this.kept.begin(String(paused.networkId), paused.sessionId);
    return isTaken;
  }

  /**
   * Hands an event stream to the source in the document that has asked for it, while the browser's own request stays
   * open.
   * @returns what the browser is to be handed at the end of the stream, so that it goes on as after the stream itself;
   * null when no source takes it
   */
  async offerEvents(paused: Offered, answer: BridgeAnswer, abort: AbortController): Promise<Buffer | null> {
    let onEnded: Large['onEnded'];
    const ended = new Promise<Buffer | null>((resolve) => {
      onEnded = resolve;
    });
    return (await this.#offer(paused, answer, { abort, onEnded })) ? await ended : null;
  }

  async #offer(
    { sessionId, frameId, networkId, url, asked }: Offered,
    answer: BridgeAnswer,
    how: Pick<Large, 'abort' | 'onEnded'>,
  ): Promise<boolean> {
    const document = this.#documents.inFrame(sessionId, frameId);
    if (!document || !answer.rest || networkId === undefined) return false;
    if (this.#blocking.get(document)?.delete(asked)) return false;
    const id = randomUUID();
    // Before it is asked: it may want the first piece at once.
    const { body: head, rest, exchange } = answer;
    this.#large.set(id, { document, networkId, asked, head, rest, exchange, ...how });
    const isEvents = how.onEnded !== undefined;
    const offer = { op: 'offer', id, url: asked, isEvents, origin: new URL(url).origin };
    const isTaken = await this.#tell(document, offer).catch(() => false);
    if (!isTaken) this.#large.delete(id);
    return isTaken;
  }

  /** A document is gone; nobody is there to be told. */
  #leave(document: BridgedDocument): void {
    for (const [id, large] of this.#large) if (large.document === document) this.#drop(id, large);
  }

  #hear(document: BridgedDocument, payload: unknown): void {
    const { success, output: data } = v.safeParse(said, payload);
    if (!success) return;
    if (data.op === 'block') {
      this.#blocking.set(document, (this.#blocking.get(document) ?? new Set()).add(data.url));
      return;
    }
    const large = this.#large.get(data.id);
    if (large?.document !== document) return;
    if (data.op === 'more') void this.#send(data.id, large);
    else if (data.op === 'ended') this.#end(data.id, large, data.last);
    else this.#drop(data.id, large);
  }

  /** A source has read all of its stream. */
  #end(id: string, { onEnded, document, asked }: Large, last: string): void {
    if (!onEnded) return;
    const [, lastId] = /^id: (.*)$/m.exec(last) ?? [];
    const ids = this.#lastIds.get(document) ?? new Map<string, string>();
    this.#lastIds.set(document, lastId === undefined ? ids : ids.set(asked, lastId));
    this.#large.delete(id);
    onEnded(Buffer.from(last));
  }

  /** Never rejects. */
  async #send(id: string, large: Large): Promise<void> {
    const { document, networkId, exchange, onEnded } = large;
    try {
      const piece = await this.#next(large);
      if (piece === null) {
        if (!onEnded) this.#large.delete(id);
        this.kept.end(networkId, 'whole', exchange.bytes());
        await this.#tell(document, { op: 'piece', id, last: true });
        return;
      }
      this.kept.add(networkId, piece);
      await this.#tell(document, { op: 'piece', id, data: piece.toString('base64') });
    } catch (error) {
      if (onEnded) {
        // The server has broken off: for a source, an end.
        await this.#tell(document, { op: 'piece', id, last: true }).catch(() => undefined);
        return;
      }
      this.kept.end(networkId, howBroken(error as Error, exchange));
      this.#drop(id, large);
      // The server has broken off; or the document is gone, which is not there to be told.
      await this.#tell(document, { op: 'piece', id, failed: true }).catch(() => undefined);
    }
  }

  /** About {@link PIECE_BYTES} at most; null at the end. */
  async #next(large: Large): Promise<Buffer | null> {
    if (large.head.length === 0) return await large.rest.readNext(PIECE_BYTES);
    const piece = large.head.subarray(0, PIECE_BYTES);
    large.head = large.head.subarray(piece.length);
    return piece;
  }

  #drop(id: string, { abort, rest, networkId, onEnded }: Large): void {
    this.#large.delete(id);
    onEnded?.(null);
    this.kept.end(networkId, 'net::ERR_ABORTED');
    rest.cancel();
    abort.abort();
  }

  /** Hands a document a message; what it makes of it is the answer. */
  async #tell({ session, uniqueId: uniqueContextId }: BridgedDocument, message: object): Promise<boolean> {
    const params = {
      uniqueContextId,
      // Not as part of the script: the piece would be parsed, and kept with it.
      functionDeclaration:
        'function (mailbox, message) { return globalThis[Symbol.for(mailbox)]?.(message) === true; }',
      arguments: [{ value: this.binding.mailbox }, { value: message }],
      returnByValue: true,
      silent: true,
    };
    const { result } = v.parse(taken, await this.#commands.call('Runtime.callFunctionOn', params, session.id));
    return result.value === true;
  }
}
