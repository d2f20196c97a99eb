import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import type { BrowserCommands } from '../../transport/interceptor.ts';
import type { BridgeAnswer } from '../bridge-fetch.ts';
import type { BridgedDocument, BridgedDocuments, HostsIn } from '../bridged-documents.ts';
import { PageBinding } from '../page-binding.ts';
import type { PausedRequest } from '../paused-request.ts';
import { LARGE_ANSWER_SHIM } from './large-answer-shim.ts';

/** What crosses the link at once, in bytes. */
const PIECE_BYTES = 8 * 1024 * 1024;

const said = v.object({ op: v.picklist(['more', 'drop']), id: v.string() });
const taken = v.looseObject({ result: v.looseObject({ value: v.optional(v.boolean()) }) });

interface Parts {
  hostsIn: HostsIn;
  documents: BridgedDocuments;
}

/** An answer on its way to a document. */
interface Large {
  document: BridgedDocument;
  /** What is read of it already. */
  head: Buffer;
  rest: NonNullable<BridgeAnswer['rest']>;
  abort: AbortController;
}

/**
 * Answers that the browser cannot be handed, because they would cross the link in one message and it takes none of that
 * size. A script of the page that has asked for one is given it in pieces, each when it wants it: no side ever holds
 * more of it than that.
 */
export class LargeAnswers {
  readonly binding: PageBinding;
  readonly #documents: BridgedDocuments;
  readonly #commands: BrowserCommands;
  readonly #large = new Map<string, Large>();

  constructor(commands: BrowserCommands, parts: Parts) {
    this.#documents = parts.documents;
    this.#commands = commands;
    const hear = (document: BridgedDocument, payload: unknown) => this.#hear(document, payload);
    this.binding = new PageBinding(commands, parts, { kind: 'answers', source: LARGE_ANSWER_SHIM, hear });
  }

  /** Whether a script of the document waits for this answer, and will take its body. */
  async offer({ sessionId, frameId, url }: PausedRequest, answer: BridgeAnswer, abort: AbortController) {
    const document = this.#documents.inFrame(sessionId, frameId);
    if (!document || !answer.rest) return false;
    const id = randomUUID();
    // Before it is asked: it may want the first piece at once.
    this.#large.set(id, { document, head: answer.body, rest: answer.rest, abort });
    const isTaken = await this.#tell(document, { op: 'offer', id, url }).catch(() => false);
    if (!isTaken) this.#large.delete(id);
    return isTaken;
  }

  /** A document is gone; nobody is there to be told. */
  leave(document: BridgedDocument): void {
    for (const [id, large] of this.#large) if (large.document === document) this.#drop(id, large);
  }

  #hear(document: BridgedDocument, payload: unknown): void {
    const { success, output: data } = v.safeParse(said, payload);
    const large = success ? this.#large.get(data.id) : undefined;
    if (!success || large?.document !== document) return;
    if (data.op === 'more') void this.#send(data.id, large);
    else this.#drop(data.id, large);
  }

  /** Never rejects. */
  async #send(id: string, large: Large): Promise<void> {
    try {
      const piece = await this.#next(large);
      const last = piece.length < PIECE_BYTES;
      if (last) this.#large.delete(id);
      await this.#tell(large.document, { op: 'piece', id, data: piece.toString('base64'), last });
    } catch {
      this.#drop(id, large);
      // The server has broken off; or the document is gone, which is not there to be told.
      await this.#tell(large.document, { op: 'piece', id, failed: true }).catch(() => undefined);
    }
  }

  /** Fewer than {@link PIECE_BYTES} only at the end. */
  async #next(large: Large): Promise<Buffer> {
    const known = large.head.subarray(0, PIECE_BYTES);
    large.head = large.head.subarray(known.length);
    if (known.length === PIECE_BYTES) return known;
    return Buffer.concat([known, await large.rest.read(PIECE_BYTES - known.length)]);
  }

  #drop(id: string, { abort, rest }: Large): void {
    this.#large.delete(id);
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
