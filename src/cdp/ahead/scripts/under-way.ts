import type { BrowserModel } from '../../model/browser-model.ts';
import { SessionMap } from '../../model/per-session.ts';

/**
 * Commands that name a JavaScript context and are not answered. When a document comes from another process its contexts may
 * have the numbers of those before: such a command then makes its object there.
 */
export class UnderWay {
  /** Where each goes, by whatever it is known by. */
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

  /** Whether there is one to this context, or to one that had its number. */
  has(sessionId: string, contextId: number): boolean {
    for (const [, place] of this.#places) {
      if (place.sessionId === sessionId && place.contextId === contextId) return true;
    }
    return false;
  }
}
