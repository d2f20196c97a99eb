import type { Protocol } from 'devtools-protocol';
import { type CdpMessage, fieldsOf } from '../../transport/message.ts';

/** Commands of a session on the browser that tell nothing about other targets. */
const BLIND = new Set(['Target.attachToTarget', 'Target.detachFromTarget', 'Runtime.runIfWaitingForDebugger']);
/** Commands that tell about them, in whatever session. */
const LOOKING = new Set(['Target.getTargets', 'Target.getBrowserContexts', 'Target.setDiscoverTargets']);

/** CDP sessions of a test's own, which would see what the browser has beside what the client has asked for. */
export class Onlookers {
  readonly #sessions = new Set<unknown>();
  readonly #attaching = new Set<number | undefined>();
  /** Somebody has looked: nothing can be hidden any more. */
  isWatched = false;
  /** The present test has a session of its own. */
  isNear = false;

  /** To be told of each of the client's commands. */
  onCommand({ id, method = '', sessionId }: CdpMessage): void {
    if (sessionId === undefined) {
      if (method === 'Target.createBrowserContext') this.isNear = false;
      if (method !== 'Target.attachToBrowserTarget') return;
      this.#attaching.add(id);
      this.isNear = true;
    } else if (this.#sessions.has(sessionId)) {
      this.isNear = true;
      if (!BLIND.has(method)) this.isWatched = true;
    } else if (LOOKING.has(method)) {
      this.isWatched = true;
    }
  }

  /** To be told of each answer. */
  onAnswer({ id, result }: CdpMessage): void {
    if (!this.#attaching.delete(id)) return;
    this.#sessions.add(fieldsOf<Protocol.Target.AttachToBrowserTargetResponse>(result).sessionId);
  }
}
