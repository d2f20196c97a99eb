import type { Protocol } from 'devtools-protocol';
import { type CdpMessage, fieldsOf } from '../transport/message.ts';

/**
 * Which CDP session speaks for which target. A target's events come once for every session on it (a test may open
 * its own with `newCDPSession`), so only the oldest one counts.
 */
export class MeteredSessions {
  /** Sessions of each target, oldest first, by every one of them. */
  readonly #siblings = new Map<string, string[]>();
  readonly #ofTarget = new Map<string, string[]>();

  /** Takes in a `Target.*` event. Returns the session that ended with it, if any. */
  observe({ method, params }: CdpMessage): string | undefined {
    const { sessionId, targetInfo } = fieldsOf<Protocol.Target.AttachedToTargetEvent>(params);
    if (typeof sessionId !== 'string') return undefined;
    const { targetId } = fieldsOf<Protocol.Target.TargetInfo>(targetInfo);
    if (method === 'Target.attachedToTarget' && typeof targetId === 'string') {
      this.#add(sessionId, targetId);
    } else if (method === 'Target.detachedFromTarget') {
      this.#remove(sessionId);
      return sessionId;
    }
    return undefined;
  }

  /** Whether a session's events count. One that was never announced does: it is its feeder's affair. */
  counts(sessionId: string): boolean {
    const siblings = this.#siblings.get(sessionId);
    return siblings === undefined || siblings[0] === sessionId;
  }

  #add(sessionId: string, targetId: string): void {
    const siblings = this.#ofTarget.get(targetId) ?? [];
    siblings.push(sessionId);
    this.#ofTarget.set(targetId, siblings);
    this.#siblings.set(sessionId, siblings);
  }

  #remove(sessionId: string): void {
    const siblings = this.#siblings.get(sessionId);
    if (!siblings) return;
    this.#siblings.delete(sessionId);
    siblings.splice(siblings.indexOf(sessionId), 1);
    if (siblings.length > 0) return;
    for (const [targetId, sessions] of this.#ofTarget) if (sessions === siblings) this.#ofTarget.delete(targetId);
  }
}
