import type { CdpMessage } from '../../transport/message.ts';

/** Sessions that the client must not hear of. */
export class HiddenSessions {
  readonly #sessions = new Set<string>();
  /** Contexts whose next target is hidden, or all of them. */
  readonly #next = new Set<string>();

  hide(sessionId: string): void {
    this.#sessions.add(sessionId);
  }

  /** The next target of a context is hidden too. */
  hideNext(contextId: string): void {
    this.#next.add(contextId);
  }

  /** The browser attaches the client to a target. Returns whether that is hidden. */
  onAttached(sessionId: string, contextId: string): boolean {
    if (!this.#next.delete(contextId)) return false;
    this.#sessions.add(sessionId);
    return true;
  }

  /** The browser says that a session is over. Returns whether it was hidden. */
  onDetached(sessionId: string): boolean {
    return this.#sessions.delete(sessionId);
  }

  /** Returns null for an event in a hidden session. */
  onMessage(message: CdpMessage): CdpMessage | null {
    return message.sessionId !== undefined && this.#sessions.has(message.sessionId) ? null : message;
  }
}
