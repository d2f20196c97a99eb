import type { Protocol } from 'devtools-protocol';
import { type CdpMessage, type Fields, fieldsOf } from '../transport/message.ts';
import type { TargetInfo } from './hidden-targets.ts';

type TargetFields = Fields<Protocol.Target.AttachedToTargetEvent>;

/** Bound on waiting for a session to end, in ms. */
const DETACH_MS = 5_000;

/** Of some of the browser's targets, those that the client is attached to. */
export class ShownTargets {
  readonly #counts: (target: TargetInfo) => boolean;
  /** By session. */
  readonly #shown = new Map<string, { targetId: string; isPage: boolean }>();
  /** Called when the client is attached to one less. */
  readonly #whenDetached = new Set<() => void>();

  /** @param counts asked about each target that the client is attached to */
  constructor(counts: (target: TargetInfo) => boolean) {
    this.#counts = counts;
  }

  /** Takes in a `Target.*` event that the browser sends to the client itself, not to one of its sessions. */
  observe({ method, params }: CdpMessage): void {
    const { sessionId, targetInfo }: TargetFields = fieldsOf(params);
    if (typeof sessionId !== 'string') return;
    if (method === 'Target.attachedToTarget') {
      const target: TargetInfo = fieldsOf(targetInfo);
      if (!this.#counts(target)) return;
      this.#shown.set(sessionId, { targetId: String(target.targetId), isPage: target.type === 'page' });
    }
    if (method === 'Target.detachedFromTarget' && this.#shown.delete(sessionId)) {
      for (const tell of this.#whenDetached) tell();
    }
  }

  has(targetId: string): boolean {
    return [...this.#shown.values()].some((shown) => shown.targetId === targetId);
  }

  /** Sessions on what is no page. */
  backgroundSessions(): string[] {
    return [...this.#shown].flatMap(([sessionId, { isPage }]) => (isPage ? [] : [sessionId]));
  }

  /** Resolves when the client is not attached to a target any more, or after 5 s. */
  detached(targetId: string): Promise<void> {
    if (!this.has(targetId)) return Promise.resolve();
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        this.#whenDetached.delete(check);
        resolve();
      };
      const check = () => {
        if (!this.has(targetId)) end();
      };
      const timer = setTimeout(end, DETACH_MS);
      this.#whenDetached.add(check);
    });
  }
}
