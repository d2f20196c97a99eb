import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { BridgeAnswer } from './bridge-fetch.ts';
import type { BridgedHosts } from './bridged-hosts.ts';
import { LARGE_ANSWER_SHIM } from './large-answer-shim.ts';
import type { CdpMessage } from './message.ts';
import type { OwnCommands } from './own-commands.ts';
import { type PageNames, pageScript, parsePayload } from './page-script.ts';
import type { PausedRequest } from './paused-request.ts';

/** What crosses the link at once, in bytes. */
const PIECE_BYTES = 8 * 1024 * 1024;

const said = z.object({ op: z.enum(['more', 'drop']), id: z.string() });
const taken = z.looseObject({ result: z.looseObject({ value: z.boolean().optional() }) });
const contextCreated = z.looseObject({
  context: z.looseObject({
    id: z.number().int(),
    auxData: z.looseObject({ isDefault: z.boolean(), frameId: z.string() }),
  }),
});

interface ContextFields {
  name?: unknown;
  payload?: unknown;
  executionContextId?: unknown;
}

/** An answer on its way to a document. */
interface Large {
  sessionId: string;
  contextId: number;
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
  readonly #hosts: BridgedHosts;
  readonly #commands: OwnCommands;
  readonly #names: PageNames = { binding: `answers${randomUUID().replaceAll('-', '')}`, mailbox: randomUUID() };
  /** Of each frame's document, by session and frame. */
  readonly #contexts = new Map<string, { sessionId: string; contextId: number }>();
  readonly #large = new Map<string, Large>();

  constructor(hosts: BridgedHosts, commands: OwnCommands) {
    this.#hosts = hosts;
    this.#commands = commands;
  }

  /** Prepares a new page or frame, while it still waits to be let run. */
  prepare(sessionId: string): void {
    const source = pageScript(this.#names, this.#hosts.hostExpressions, LARGE_ANSWER_SHIM);
    this.#commands.post('Runtime.addBinding', { name: this.#names.binding }, sessionId);
    this.#commands.post('Page.addScriptToEvaluateOnNewDocument', { source }, sessionId);
  }

  /** Whether a message of the browser is from a page's script about a large answer. */
  takes({ method, sessionId, params = {} }: CdpMessage): boolean {
    if (sessionId === undefined || !method?.startsWith('Runtime.')) return false;
    if (method === 'Runtime.executionContextCreated') this.#meet(sessionId, params);
    const fields: ContextFields = params;
    if (method === 'Runtime.executionContextDestroyed') this.leave(sessionId, fields.executionContextId);
    if (method === 'Runtime.executionContextsCleared') this.leave(sessionId);
    if (method !== 'Runtime.bindingCalled' || fields.name !== this.#names.binding) return false;
    const { success, data } = said.safeParse(parsePayload(fields.payload));
    const large = success ? this.#large.get(data.id) : undefined;
    if (success && large?.sessionId === sessionId && large.contextId === fields.executionContextId) {
      if (data.op === 'more') void this.#send(data.id, large);
      else this.#drop(data.id, large);
    }
    return true;
  }

  /** Whether a script of the document waits for this answer, and will take its body. */
  async offer({ sessionId, frameId, url }: PausedRequest, answer: BridgeAnswer, abort: AbortController) {
    const place = this.#contexts.get(`${sessionId} ${frameId}`);
    if (!place || !answer.rest) return false;
    const id = randomUUID();
    // Before it is asked: it may want the first piece at once.
    this.#large.set(id, { ...place, head: answer.body, rest: answer.rest, abort });
    const isTaken = await this.#tell(place, { op: 'offer', id, url }).catch(() => false);
    if (!isTaken) this.#large.delete(id);
    return isTaken;
  }

  /** A document, every document of a page, or all of them, are gone; nobody is there to be told. */
  leave(sessionId?: unknown, contextId?: unknown): void {
    const isGone = (place: { sessionId: string; contextId: number }) =>
      (sessionId === undefined || place.sessionId === sessionId) &&
      (contextId === undefined || place.contextId === contextId);
    for (const [frame, place] of this.#contexts) if (isGone(place)) this.#contexts.delete(frame);
    for (const [id, large] of this.#large) if (isGone(large)) this.#drop(id, large);
  }

  #meet(sessionId: string, params: object): void {
    const { success, data } = contextCreated.safeParse(params);
    if (!success || !data.context.auxData.isDefault) return;
    const { id: contextId, auxData } = data.context;
    this.#contexts.set(`${sessionId} ${auxData.frameId}`, { sessionId, contextId });
  }

  /** Never rejects. */
  async #send(id: string, large: Large): Promise<void> {
    try {
      const piece = await this.#next(large);
      const last = piece.length < PIECE_BYTES;
      if (last) this.#large.delete(id);
      await this.#tell(large, { op: 'piece', id, data: piece.toString('base64'), last });
    } catch {
      this.#drop(id, large);
      // The server has broken off; or the document is gone, which is not there to be told.
      await this.#tell(large, { op: 'piece', id, failed: true }).catch(() => undefined);
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
  async #tell({ sessionId, contextId }: { sessionId: string; contextId: number }, message: object): Promise<boolean> {
    const params = {
      executionContextId: contextId,
      // Not as part of the script: the piece would be parsed, and kept with it.
      functionDeclaration:
        'function (mailbox, message) { return globalThis[Symbol.for(mailbox)]?.(message) === true; }',
      arguments: [{ value: this.#names.mailbox }, { value: message }],
      returnByValue: true,
      silent: true,
    };
    const { result } = taken.parse(await this.#commands.call('Runtime.callFunctionOn', params, sessionId));
    return result.value === true;
  }
}
