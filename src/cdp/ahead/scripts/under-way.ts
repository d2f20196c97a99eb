/**
 * Commands that name a JavaScript context and are not answered. When a document comes from another process its contexts may
 * have the numbers of those before: such a command then makes its object there.
 */
export class UnderWay {
  /** Where each goes, by whatever it is known by. */
  readonly #places = new Map<unknown, { sessionId: string; contextId: number }>();

  sent(command: unknown, sessionId: string, contextId: number): void {
    this.#places.set(command, { sessionId, contextId });
  }

  answered(command: unknown): void {
    this.#places.delete(command);
  }

  /** Whether there is one to this context, or to one that had its number. */
  has(sessionId: string, contextId: number): boolean {
    for (const place of this.#places.values()) {
      if (place.sessionId === sessionId && place.contextId === contextId) return true;
    }
    return false;
  }

  forget(sessionId: string): void {
    for (const [command, place] of this.#places) if (place.sessionId === sessionId) this.#places.delete(command);
  }
}
