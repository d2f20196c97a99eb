import type { Protocol } from 'devtools-protocol';
import * as v from 'valibot';
import type { BrowserCommands } from '../transport/interceptor.ts';
import { type CdpMessage, type Fields, fieldsOf } from '../transport/message.ts';

const createdContext = v.looseObject({ browserContextId: v.string() });
const createdTarget = v.looseObject({ targetId: v.string() });
const attached = v.looseObject({ sessionId: v.string() });

/** Where commands for it go. */
interface OpenPage {
  sessionId: string;
  browserContextId: string;
}

/**
 * An empty page of our own in the browser, in a context of its own, which ends with the link. A client, which is told
 * of every page of the browser, is not told of this one.
 */
export class OwnPage {
  readonly #commands: BrowserCommands;
  #contextId: string | undefined;
  #sessionId: string | undefined;
  /** Sessions on its tab. */
  readonly #others = new Set<unknown>();
  /** What the browser tells a client that discovers targets. */
  readonly #targets = new Set<unknown>();
  #opened: Promise<OpenPage> | undefined;

  constructor(commands: BrowserCommands) {
    this.#commands = commands;
  }

  /** Opens the page when it is first asked for. @throws PoolwrightError */
  open(): Promise<OpenPage> {
    this.#opened ??= this.#open();
    // One that did not open may the next time.
    this.#opened.catch(() => {
      this.#opened = undefined;
    });
    return this.#opened;
  }

  /** Returns null for a message that is about this page, and so nobody else's business. */
  onMessage(message: CdpMessage): CdpMessage | null {
    return this.#contextId !== undefined && this.#isAbout(message) ? null : message;
  }

  #isAbout({ sessionId, method, params }: CdpMessage): boolean {
    if (sessionId !== undefined) return this.#isOwn(sessionId);
    const fields = fieldsOf<Protocol.Target.AttachedToTargetEvent & Protocol.Target.TargetDestroyedEvent>(params);
    if (method === 'Target.detachedFromTarget') return this.#isOwn(fields.sessionId);
    if (method === 'Target.targetDestroyed') return this.#targets.delete(fields.targetId);
    const { browserContextId, targetId } = fieldsOf<Protocol.Target.TargetInfo>(fields.targetInfo);
    if (browserContextId !== this.#contextId) return false;
    this.#targets.add(targetId);
    if (method === 'Target.attachedToTarget') this.#attached(fields);
    return true;
  }

  #isOwn(sessionId: unknown): boolean {
    return sessionId === this.#sessionId || this.#others.has(sessionId);
  }

  /** Playwright has the browser attach it to every new page, Puppeteer to every tab: those wait to be let go. */
  #attached({ sessionId, targetInfo }: Fields<Protocol.Target.AttachedToTargetEvent>): void {
    if (typeof sessionId !== 'string') return;
    if (fieldsOf<Protocol.Target.TargetInfo>(targetInfo).type === 'page') {
      this.#sessionId ??= sessionId;
      return;
    }
    this.#others.add(sessionId);
    this.#commands.post('Runtime.runIfWaitingForDebugger', {}, sessionId);
    this.#commands.post('Target.detachFromTarget', { sessionId });
  }

  async #open(): Promise<OpenPage> {
    const context = await this.#commands.call('Target.createBrowserContext', { disposeOnDetach: true });
    const { browserContextId } = v.parse(createdContext, context);
    this.#contextId = browserContextId;
    this.#sessionId = undefined;
    const target = { url: 'about:blank', browserContextId, background: true };
    const { targetId } = v.parse(createdTarget, await this.#commands.call('Target.createTarget', target));
    if (this.#sessionId === undefined) {
      const answer = await this.#commands.call('Target.attachToTarget', { targetId, flatten: true });
      this.#sessionId = v.parse(attached, answer).sessionId;
    }
    await this.#commands.call('Runtime.runIfWaitingForDebugger', {}, this.#sessionId);
    return { sessionId: this.#sessionId, browserContextId };
  }
}
