import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import type { BrowserCommands, InterceptorLink } from '../../transport/interceptor.ts';
import type { BridgedDocument, BridgedDocuments, HostsIn } from '../bridged-documents.ts';
import { PageBinding } from '../page-binding.ts';
import type { BridgeAnswer } from '../requests/bridge-fetch.ts';
import type { PausedRequest } from '../requests/paused-request.ts';
import { EVENT_SOURCE_SHIM } from './event-source-shim.ts';
import { KeptBodies } from './kept-bodies.ts';
import { LARGE_ANSWER_SHIM } from './large-answer-shim.ts';

/** What crosses the link at once, in bytes. */
const PIECE_BYTES = 2 * 1024 * 1024;

const said = v.variant('op', [
  v.object({ op: v.literal('more'), id: v.string() }),
  v.object({ op: v.literal('drop'), id: v.string() }),
  v.object({ op: v.literal('block'), url: v.string() }),
]);

const taken = v.looseObject({ result: v.looseObject({ value: v.optional(v.boolean()) }) });

interface Parts {
  hostsIn: HostsIn;
  documents: BridgedDocuments;
}

const SHIMS = `(tell, listed) => {
  const take = (${LARGE_ANSWER_SHIM})(tell);
  (${EVENT_SOURCE_SHIM})(listed);
  return take;
}`;

/** An answer on its way to a document. */
interface Large {
  document: BridgedDocument;
  networkId: string;
  /** What is read of it already, and not sent. */
  head: Buffer;
  rest: NonNullable<BridgeAnswer['rest']>;
  exchange: BridgeAnswer['exchange'];
  abort: AbortController;
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
  /** Addresses of requests that block their page, which cannot take a piece meanwhile. */
  readonly #blocking = new WeakMap<BridgedDocument, Set<string>>();

  constructor(commands: InterceptorLink, parts: Parts) {
    this.#documents = parts.documents;
    this.#commands = commands;
    this.kept = new KeptBodies(commands);
    const hear = (document: BridgedDocument, payload: unknown) => this.#hear(document, payload);
    this.binding = new PageBinding(commands, parts, { kind: 'answers', source: SHIMS, hear });
  }

  /** The document that a request may be of. */
  documentOf({ sessionId, frameId }: PausedRequest): BridgedDocument | undefined {
    return this.#documents.inFrame(sessionId, frameId);
  }

  /** Whether a script of the document waits for this answer, and will take its body. */
  async offer({ sessionId, frameId, networkId, url }: PausedRequest, answer: BridgeAnswer, abort: AbortController) {
    const document = this.#documents.inFrame(sessionId, frameId);
    if (!document || !answer.rest || networkId === undefined) return false;
    if (this.#blocking.get(document)?.delete(url)) return false;
    const id = randomUUID();
    // Before it is asked: it may want the first piece at once.
    const { body: head, rest, exchange } = answer;
    this.#large.set(id, { document, networkId, head, rest, exchange, abort });
    const isTaken = await this.#tell(document, { op: 'offer', id, url }).catch(() => false);
    if (isTaken) this.kept.begin(networkId, sessionId);
    else this.#large.delete(id);
    return isTaken;
  }

  /** A document is gone; nobody is there to be told. */
  leave(document: BridgedDocument): void {
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
    else this.#drop(data.id, large);
  }

  /** Never rejects. */
  async #send(id: string, large: Large): Promise<void> {
    const { document, networkId, exchange } = large;
    try {
      const piece = await this.#next(large);
      if (piece === null) {
        this.#large.delete(id);
        this.kept.end(networkId, 'whole', exchange.bytes());
        await this.#tell(document, { op: 'piece', id, last: true });
        return;
      }
      this.kept.add(networkId, piece);
      await this.#tell(document, { op: 'piece', id, data: piece.toString('base64') });
    } catch {
      this.kept.end(networkId, 'net::ERR_INCOMPLETE_CHUNKED_ENCODING');
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

  #drop(id: string, { abort, rest, networkId }: Large): void {
    this.#large.delete(id);
    this.kept.end(networkId, 'net::ERR_ABORTED');
    rest.cancel();
    abort.abort();
  }

  /** Hands a document a message; what it makes of it is the answer. */
  async #tell({ sessionId, uniqueContextId }: BridgedDocument, message: object): Promise<boolean> {
    const params = {
      uniqueContextId,
      // Not as part of the script: the piece would be parsed, and kept with it.
      functionDeclaration:
        'function (mailbox, message) { return globalThis[Symbol.for(mailbox)]?.(message) === true; }',
      arguments: [{ value: this.binding.mailbox }, { value: message }],
      returnByValue: true,
      silent: true,
    };
    const { result } = v.parse(taken, await this.#commands.call('Runtime.callFunctionOn', params, sessionId));
    return result.value === true;
  }
}
