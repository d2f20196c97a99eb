import type { Protocol } from 'devtools-protocol';
import { type CdpMessage, fieldsOf } from '../../message.ts';
import type { BrowserModel } from '../../model/browser-model.ts';
import { PerSession } from '../../model/per-session.ts';
import type { World } from '../../model/session.ts';

interface Known {
  /** The prefix of all object IDs of its process; undefined while it has created none. */
  isolate?: string | undefined;
  /** Number of the newest JavaScript context; 0 if there is none. A process numbers them sequentially. */
  contextId: number;
}

/**
 * Tracks which process a session's documents are in, by the prefix of object IDs: `<isolate>.<context>.<number>`. A
 * document in another process than the one before shows by its context number, which starts again.
 */
export class Isolates {
  readonly #sessions: PerSession<Known>;

  constructor(model: BrowserModel) {
    this.#sessions = new PerSession(model, () => ({ contextId: 0 }));
  }

  /** The prefix of object IDs in this world, if its process has created objects before. */
  prefixOf({ session, id }: World): string | null {
    const { isolate } = this.#sessions.of(session.id) ?? {};
    return isolate === undefined ? null : `${isolate}.${id}`;
  }

  /** The number of the next context created in a session; null if none is known yet. */
  nextContext(sessionId: string): number | null {
    const { contextId = 0 } = this.#sessions.of(sessionId) ?? {};
    return contextId > 0 ? contextId + 1 : null;
  }

  /** The browser has a new world. */
  onWorld({ session, id }: World): void {
    const known = this.#sessions.of(session.id);
    if (!known) return;
    if (id <= known.contextId) known.isolate = undefined;
    known.contextId = id;
  }

  /** Takes a response of the browser. */
  onResponse({ result, sessionId }: CdpMessage): void {
    const { result: object } = fieldsOf<Protocol.Runtime.EvaluateResponse>(result);
    const { objectId } = fieldsOf<Protocol.Runtime.RemoteObject>(object);
    const known = this.#sessions.of(sessionId);
    if (typeof objectId !== 'string' || !known || known.contextId === 0) return;
    const [isolate, contextId] = objectId.split('.');
    // A response from the previous process may arrive after the first event of the next one.
    if (Number(contextId) <= known.contextId) known.isolate = isolate;
  }
}
