import type { CdpMessage } from '../../transport/message.ts';

/** Sessions that the client must not hear of. */
export class HiddenSessions {
  readonly #sessions = new Set<string>();
  /** Contexts of which nothing that comes is shown. */
  readonly #contexts = new Set<string>();

  hide(sessionId: string): void {
    this.#sessions.add(sessionId);
  }

  /** What is still to come in a context is hidden too. */
  hideContext(contextId: string): void {
    this.#contexts.add(contextId);
  }

  /** A context is gone. */
  forgetContext(contextId: string): void {
    this.#contexts.delete(contextId);
  }

  /** The browser attaches the client to a target. Returns whether that is hidden. */
  onAttached(sessionId: string, contextId: string): boolean {
    if (!this.#contexts.has(contextId)) return false;
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
