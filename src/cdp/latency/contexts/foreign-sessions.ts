import type { CdpMessage } from '../../message.ts';
import type { BrowserModel } from '../../model/browser-model.ts';

/** Commands to the browser target that reveal nothing about other targets. */
const BLIND = new Set(['Target.attachToTarget', 'Target.detachFromTarget', 'Runtime.runIfWaitingForDebugger']);
/** Commands that reveal other targets, in any session. */
const LOOKING = new Set(['Target.getTargets', 'Target.getBrowserContexts', 'Target.setDiscoverTargets']);

/** CDP sessions that a test opens on the browser: they would see targets that the client has not created. */
export class ForeignSessions {
  readonly #model: BrowserModel;
  /** Once one of them has listed the browser's targets, targets can no longer be hidden. */
  haveLooked = false;
  /** The current test has opened or used one. */
  areInUse = false;

  constructor(model: BrowserModel) {
    this.#model = model;
  }

  onCommand({ method = '', sessionId }: CdpMessage): void {
    if (sessionId === undefined) {
      if (method === 'Target.createBrowserContext') this.areInUse = false;
      if (method === 'Target.attachToBrowserTarget') this.areInUse = true;
    } else if (this.#model.session(sessionId)?.target.type === 'browser') {
      this.areInUse = true;
      if (!BLIND.has(method)) this.haveLooked = true;
    } else if (LOOKING.has(method)) {
      this.haveLooked = true;
    }
  }
}
