import type { CdpMessage } from '../transport/message.ts';
import type { OwnCommands } from '../transport/own-commands.ts';

/** A target as the browser announces it. */
export interface TargetInfo {
  targetId?: unknown;
  type?: unknown;
  browserContextId?: unknown;
}

interface TargetFields {
  sessionId?: unknown;
  targetId?: unknown;
  targetInfo?: TargetInfo;
}

/**
 * Hides targets from Playwright, first of all the pages that a browser has when Playwright connects to it. Playwright
 * would adopt them into the default context, and then every screenshot of a failed test comes twice, one of them blank;
 * and a page that answers nothing would hold up the connection. What is opened later is shown, popups included; so are
 * workers, unless somebody else wants a target hidden.
 *
 * Existing pages are announced between Playwright's `Target.setAutoAttach` to the browser and the answer to it. A target
 * that is hidden is let go at once, and nothing about it is passed on.
 */
export class HiddenTargets {
  readonly #commands: OwnCommands;
  readonly #alsoHidden: (target: TargetInfo) => boolean;
  readonly #targets = new Set<unknown>();
  readonly #sessions = new Set<unknown>();
  /** Targets whose next session is for commands of our own. */
  readonly #claimed = new Set<unknown>();
  /** ID of Playwright's `Target.setAutoAttach`; null before it is sent and after it is answered. */
  #attaching: number | null = null;
  #connected = false;

  /** @param alsoHidden asked about each target that the browser attaches Playwright to */
  constructor(commands: OwnCommands, alsoHidden: (target: TargetInfo) => boolean = () => false) {
    this.#commands = commands;
    this.#alsoHidden = alsoHidden;
  }

  /** To be told of every command before it goes out. */
  sent(command: CdpMessage): void {
    if (this.#connected || command.sessionId !== undefined || command.method !== 'Target.setAutoAttach') return;
    this.#attaching = command.id ?? null;
  }

  /** The next session on this target is ours: hidden, and not let go. */
  claim(targetId: string): void {
    this.#claimed.add(targetId);
  }

  /** Whether a message is about a hidden target and must not be passed on. */
  hides(message: CdpMessage): boolean {
    const { id, method, sessionId } = message;
    if (sessionId !== undefined) return this.#sessions.size > 0 && this.#hidesOfSession(sessionId, message);
    if (id !== undefined) {
      if (id === this.#attaching) {
        this.#attaching = null;
        this.#connected = true;
      }
      return false;
    }
    return method?.startsWith('Target.') === true && this.#hidesTarget(method, fieldsOf(message));
  }

  #hidesOfSession(sessionId: string, message: CdpMessage): boolean {
    if (!this.#sessions.has(sessionId)) return false;
    if (message.method === 'Target.attachedToTarget') this.#letGo(fieldsOf(message), sessionId);
    return true;
  }

  #hidesTarget(method: string, fields: TargetFields): boolean {
    const targetId = fields.targetInfo?.targetId ?? fields.targetId;
    if (method === 'Target.detachedFromTarget') return this.#sessions.delete(fields.sessionId);
    if (method !== 'Target.attachedToTarget') return this.#targets.has(targetId);
    const { targetInfo = {} } = fields;
    if (this.#claimed.delete(targetId)) {
      this.#sessions.add(fields.sessionId);
      return true;
    }
    const wasThere = this.#attaching !== null && targetInfo.type === 'page';
    if (!wasThere && !this.#alsoHidden(targetInfo)) {
      this.#targets.delete(targetId);
      return false;
    }
    this.#targets.add(targetId);
    this.#letGo(fields);
    return true;
  }

  /** Resumes a target, should it be waiting for that, and leaves it. */
  #letGo({ sessionId }: TargetFields, parent?: string): void {
    if (typeof sessionId !== 'string') return;
    this.#sessions.add(sessionId);
    this.#commands.post('Runtime.runIfWaitingForDebugger', {}, sessionId);
    this.#commands.post('Target.detachFromTarget', { sessionId }, parent);
  }
}

function fieldsOf({ params }: CdpMessage): TargetFields {
  return typeof params === 'object' && params !== null ? params : {};
}
