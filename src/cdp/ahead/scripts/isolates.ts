import type { Protocol } from 'devtools-protocol';
import { type CdpMessage, fieldsOf } from '../../transport/message.ts';

interface Session {
  /** What all IDs of objects begin with that its process makes; undefined while it has made none. */
  isolate?: string | undefined;
  /** Of the newest JavaScript context. A process counts them up. */
  contextId: number;
}

/**
 * Which process a session's documents are in, by what IDs of objects begin with: `<isolate>.<context>.<number>`. A document that is
 * in another process than the one before it is known by the number of its context, which begins anew.
 */
export class Isolates {
  readonly #sessions = new Map<string, Session>();

  /** What the ID of an object in this context begins with, if the session's process has made objects before. */
  prefixOf(sessionId: string, contextId: number): string | null {
    const { isolate } = this.#sessions.get(sessionId) ?? {};
    return isolate === undefined ? null : `${isolate}.${contextId}`;
  }

  /** The number of the next context that is made in a session; null where none is known yet. */
  nextContext(sessionId: string): number | null {
    const session = this.#sessions.get(sessionId);
    return session ? session.contextId + 1 : null;
  }

  /** To be told of the browser's messages. */
  onMessage({ method, params, result, sessionId }: CdpMessage): void {
    if (sessionId === undefined) return;
    if (method === 'Runtime.executionContextCreated') {
      const { context } = fieldsOf<Protocol.Runtime.ExecutionContextCreatedEvent>(params);
      this.#onContext(sessionId, fieldsOf<Protocol.Runtime.ExecutionContextDescription>(context).id);
    } else if (result !== undefined) {
      const { result: object } = fieldsOf<Protocol.Runtime.EvaluateResponse>(result);
      this.#onObject(sessionId, fieldsOf<Protocol.Runtime.RemoteObject>(object).objectId);
    }
  }

  forget(sessionId: string): void {
    this.#sessions.delete(sessionId);
  }

  #onContext(sessionId: string, id: unknown): void {
    if (typeof id !== 'number') return;
    const { isolate, contextId = 0 } = this.#sessions.get(sessionId) ?? {};
    this.#sessions.set(sessionId, { isolate: id > contextId ? isolate : undefined, contextId: id });
  }

  #onObject(sessionId: string, objectId: unknown): void {
    const session = this.#sessions.get(sessionId);
    if (typeof objectId !== 'string' || !session) return;
    const [isolate, contextId] = objectId.split('.');
    // An answer from the process before may come behind the first news of the next one.
    if (Number(contextId) <= session.contextId) session.isolate = isolate;
  }
}
