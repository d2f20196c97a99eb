import type { Protocol } from 'devtools-protocol';
import type { BrowserModel } from '../../model/browser-model.ts';
import { PerSession } from '../../model/per-session.ts';
import { type CdpMessage, fieldsOf } from '../../transport/message.ts';

interface Known {
  /** What all IDs of objects begin with that its process makes; undefined while it has made none. */
  isolate?: string | undefined;
  /** Of the newest JavaScript context; 0 while there is none. A process counts them up. */
  contextId: number;
}

/**
 * Which process a session's documents are in, by what IDs of objects begin with: `<isolate>.<context>.<number>`. A document that is
 * in another process than the one before it is known by the number of its context, which begins anew.
 */
export class Isolates {
  readonly #sessions: PerSession<Known>;

  constructor(model: BrowserModel) {
    this.#sessions = new PerSession(model, () => ({ contextId: 0 }));
  }

  /** What the ID of an object in this context begins with, if the session's process has made objects before. */
  prefixOf(sessionId: string, contextId: number): string | null {
    const { isolate } = this.#sessions.of(sessionId) ?? {};
    return isolate === undefined ? null : `${isolate}.${contextId}`;
  }

  /** The number of the next context that is made in a session; null where none is known yet. */
  nextContext(sessionId: string): number | null {
    const { contextId = 0 } = this.#sessions.of(sessionId) ?? {};
    return contextId > 0 ? contextId + 1 : null;
  }

  /** To be told of the browser's messages. */
  onMessage({ method, params, result, sessionId }: CdpMessage): void {
    if (method === 'Runtime.executionContextCreated') {
      const { context } = fieldsOf<Protocol.Runtime.ExecutionContextCreatedEvent>(params);
      this.#onContext(sessionId, fieldsOf<Protocol.Runtime.ExecutionContextDescription>(context).id);
    } else if (result !== undefined) {
      const { result: object } = fieldsOf<Protocol.Runtime.EvaluateResponse>(result);
      this.#onObject(sessionId, fieldsOf<Protocol.Runtime.RemoteObject>(object).objectId);
    }
  }

  #onContext(sessionId: string | undefined, id: unknown): void {
    const known = this.#sessions.of(sessionId);
    if (!known || typeof id !== 'number') return;
    if (id <= known.contextId) known.isolate = undefined;
    known.contextId = id;
  }

  #onObject(sessionId: string | undefined, objectId: unknown): void {
    const known = this.#sessions.of(sessionId);
    if (typeof objectId !== 'string' || !known || known.contextId === 0) return;
    const [isolate, contextId] = objectId.split('.');
    // An answer from the process before may come behind the first news of the next one.
    if (Number(contextId) <= known.contextId) known.isolate = isolate;
  }
}
