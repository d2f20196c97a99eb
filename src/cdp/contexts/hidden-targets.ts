import type { Protocol } from 'devtools-protocol';
import type { BrowserCommands, Interceptor } from '../transport/interceptor.ts';
import { type CdpMessage, type Fields, fieldsOf } from '../transport/message.ts';

/** A target as the browser announces it. */
export type TargetInfo = Fields<Protocol.Target.TargetInfo>;

/** Of the browser's events about targets, what is looked at here. */
type TargetFields = Fields<Protocol.Target.AttachedToTargetEvent & Protocol.Target.TargetDestroyedEvent>;

/** What a page is to a client: Playwright is attached to pages, Puppeteer to the tabs that they are in. */
const PAGES = new Set<unknown>(['page', 'tab']);

/**
 * Hides targets from the client, first of all the pages that a browser has when the client connects to it. Playwright
 * would adopt them into the default context, and then every screenshot of a failed test comes twice, one of them blank;
 * and a page that answers nothing would hold up the connection. What is opened later is shown, popups included; so are
 * workers, unless somebody else wants a target hidden.
 *
 * Existing pages are announced between the client's first `Target.setAutoAttach` to the browser, or `setDiscoverTargets`
 * before that, and the answer to the former. A target that is hidden is let go at once, and nothing about it is passed on.
 */
export class HiddenTargets implements Interceptor {
  readonly #commands: BrowserCommands;
  readonly #alsoHidden: (target: TargetInfo) => boolean;
  readonly #targets = new Set<unknown>();
  readonly #sessions = new Set<unknown>();
  /** Targets whose next session is for commands of our own. */
  readonly #claimed = new Set<unknown>();
  /** ID of the client's `Target.setAutoAttach`; null before it is sent and after it is answered. */
  #attaching: number | null = null;
  /** Whether the client, which is not connected yet, is told of the browser's targets. */
  #discovering = false;
  #connected = false;

  /** @param alsoHidden asked about each target that the browser attaches the client to */
  constructor(commands: BrowserCommands, alsoHidden: (target: TargetInfo) => boolean = () => false) {
    this.#commands = commands;
    this.#alsoHidden = alsoHidden;
  }

  /** The next session on this target is ours: hidden, and not let go. */
  claim(targetId: string): void {
    this.#claimed.add(targetId);
  }

  onCommand(command: CdpMessage): CdpMessage {
    if (this.#connected || command.sessionId !== undefined) return command;
    if (command.method === 'Target.setDiscoverTargets') this.#discovering = true;
    if (command.method === 'Target.setAutoAttach') this.#attaching = command.id ?? null;
    return command;
  }

  onMessage(message: CdpMessage): CdpMessage | null {
    return this.#isHidden(message) ? null : message;
  }

  #isHidden(message: CdpMessage): boolean {
    const { id, method, params, sessionId } = message;
    if (id !== undefined) {
      if (id === this.#attaching) {
        this.#attaching = null;
        this.#discovering = false;
        this.#connected = true;
      }
      return false;
    }
    if (sessionId !== undefined) return this.#sessions.size > 0 && this.#isOfHiddenSession(sessionId, message);
    return method?.startsWith('Target.') === true && this.#isAboutHidden(method, fieldsOf(params));
  }

  #isOfHiddenSession(sessionId: string, { method, params }: CdpMessage): boolean {
    if (!this.#sessions.has(sessionId)) return false;
    if (method === 'Target.attachedToTarget') this.#letGo(fieldsOf(params), sessionId);
    if (method === 'Target.detachedFromTarget') this.#sessions.delete(fieldsOf<TargetFields>(params).sessionId);
    return true;
  }

  #isAboutHidden(method: string, fields: TargetFields): boolean {
    if (method === 'Target.detachedFromTarget') return this.#sessions.delete(fields.sessionId);
    const targetInfo: TargetInfo = fieldsOf(fields.targetInfo);
    const targetId = targetInfo.targetId ?? fields.targetId;
    if (method === 'Target.targetDestroyed') return this.#targets.delete(targetId);
    if (method === 'Target.targetCreated' && this.#discovering && PAGES.has(targetInfo.type)) {
      this.#targets.add(targetId);
    }
    if (method !== 'Target.attachedToTarget') return this.#targets.has(targetId);
    if (this.#claimed.delete(targetId)) {
      this.#sessions.add(fields.sessionId);
      return true;
    }
    const wasThere = this.#attaching !== null && PAGES.has(targetInfo.type);
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
