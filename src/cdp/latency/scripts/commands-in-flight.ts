import type { BrowserModel } from '../../model/browser-model.ts';
import { SessionMap } from '../../model/per-session.ts';

/**
 * Pending commands that name a JavaScript context. A document in another process may reuse the numbers of earlier
 * contexts: such a command then creates its object there.
 */
export class CommandsInFlight {
  /** Where each command goes, by any key. */
  readonly #places: SessionMap<unknown, { sessionId: string; contextId: number }>;

  constructor(model: BrowserModel) {
    this.#places = new SessionMap(model);
  }

  sent(command: unknown, sessionId: string, contextId: number): void {
    this.#places.set(command, { sessionId, contextId }, sessionId);
  }

  answered(command: unknown): void {
    this.#places.delete(command);
  }

  /** Whether a pending command names this context, or one that had its number. */
  has(sessionId: string, contextId: number): boolean {
    for (const [, place] of this.#places) {
      if (place.sessionId === sessionId && place.contextId === contextId) return true;
    }
    return false;
  }
}
