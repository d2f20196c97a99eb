import * as v from 'valibot';
import type { InterceptorTransport } from '../transport/interceptor.ts';

const createdContext = v.looseObject({ browserContextId: v.string() });
const createdTarget = v.looseObject({ targetId: v.string() });
const attached = v.looseObject({ sessionId: v.string() });

/** An empty page for our own use, in a separate context, which ends with the connection. The client does not see it. */
export class HelperPage {
  readonly #transport: InterceptorTransport;
  #opened: Promise<string> | undefined;
  /** Once it is open. */
  #sessionId: string | undefined;

  constructor(transport: InterceptorTransport) {
    this.#transport = transport;
  }

  /**
   * Opens the page on the first call, and another one if that has crashed or ended. Returns the ID of a session on it.
   * @throws PoolwrightError
   */
  open(): Promise<string> {
    const isGone = this.#transport.model.session(this.#sessionId)?.target.isCrashed ?? true;
    if (this.#sessionId !== undefined && isGone) {
      this.#sessionId = undefined;
      this.#opened = undefined;
    }
    this.#opened ??= this.#open();
    // After a failure, the next call tries again.
    this.#opened.catch(() => {
      this.#opened = undefined;
    });
    return this.#opened;
  }

  async #open(): Promise<string> {
    const { model, view } = this.#transport;
    const context = await this.#transport.call('Target.createBrowserContext', { disposeOnDetach: true });
    const { browserContextId } = v.parse(createdContext, context);
    view.ownContext(browserContextId);
    const target = { url: 'about:blank', browserContextId, background: true };
    const { targetId } = v.parse(createdTarget, await this.#transport.call('Target.createTarget', target));
    // Playwright makes the browser attach to every new page, Puppeteer to its tab.
    const [session] = model.target(targetId)?.sessions ?? [];
    const sessionId = session?.id ?? (await this.#attach(targetId));
    await this.#transport.call('Runtime.runIfWaitingForDebugger', {}, sessionId);
    this.#sessionId = sessionId;
    return sessionId;
  }

  async #attach(targetId: string): Promise<string> {
    const response = await this.#transport.call('Target.attachToTarget', { targetId, flatten: true });
    return v.parse(attached, response).sessionId;
  }
}
