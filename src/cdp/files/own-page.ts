import { z } from 'zod';
import type { CdpMessage } from '../transport/message.ts';
import type { OwnCommands } from '../transport/own-commands.ts';

const createdContext = z.looseObject({ browserContextId: z.string() });
const createdTarget = z.looseObject({ targetId: z.string() });
const attached = z.looseObject({ sessionId: z.string() });

interface TargetFields {
  sessionId?: unknown;
  targetInfo?: { browserContextId?: unknown };
}

/**
 * An empty page of our own in the browser, in a context of its own, which ends with the link. Playwright, which is told
 * of every page of the browser, is not told of this one.
 */
export class OwnPage {
  readonly #commands: OwnCommands;
  #contextId: string | undefined;
  #sessionId: string | undefined;
  #opened: Promise<string> | undefined;

  constructor(commands: OwnCommands) {
    this.#commands = commands;
  }

  /** Opens the page when it is first asked for. Answers the session on it. @throws PoolwrightError */
  session(): Promise<string> {
    this.#opened ??= this.#open();
    // One that did not open may the next time.
    this.#opened.catch(() => {
      this.#opened = undefined;
    });
    return this.#opened;
  }

  /** Whether a message is about this page and nobody else's business. */
  hides({ sessionId, method, params }: CdpMessage): boolean {
    if (this.#contextId === undefined) return false;
    if (sessionId !== undefined) return sessionId === this.#sessionId;
    const fields: TargetFields = params ?? {};
    if (method === 'Target.detachedFromTarget') return fields.sessionId === this.#sessionId;
    if (fields.targetInfo?.browserContextId !== this.#contextId) return false;
    // Playwright has the browser attach it to every new page.
    if (method === 'Target.attachedToTarget') this.#sessionId ??= String(fields.sessionId);
    return true;
  }

  async #open(): Promise<string> {
    const context = await this.#commands.call('Target.createBrowserContext', { disposeOnDetach: true });
    const { browserContextId } = createdContext.parse(context);
    this.#contextId = browserContextId;
    this.#sessionId = undefined;
    const target = { url: 'about:blank', browserContextId, background: true };
    const { targetId } = createdTarget.parse(await this.#commands.call('Target.createTarget', target));
    if (this.#sessionId === undefined) {
      const answer = await this.#commands.call('Target.attachToTarget', { targetId, flatten: true });
      this.#sessionId = attached.parse(answer).sessionId;
    }
    await this.#commands.call('Runtime.runIfWaitingForDebugger', {}, this.#sessionId);
    return this.#sessionId;
  }
}
