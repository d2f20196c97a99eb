import * as v from 'valibot';
import type { InterceptorTransport } from '../transport/interceptor.ts';

const attached = v.looseObject({ sessionId: v.string() });

/**
 * Our own session on the browser. Sessions that it opens on pages are ours, too: a client's session on the same page
 * cannot be mistaken for one of them. The client sees none of this.
 */
export class BrowserSession {
  readonly #transport: InterceptorTransport;
  #opened: Promise<string> | undefined;

  constructor(transport: InterceptorTransport) {
    this.#transport = transport;
  }

  /** Opens a session on a page, and returns its ID. @throws PoolwrightError when the page is gone */
  async attach(targetId: string): Promise<string> {
    const session = await this.#open();
    return v.parse(attached, await this.#transport.call('Target.attachToTarget', { targetId, flatten: true }, session))
      .sessionId;
  }

  /** Ends a session that this one has opened. */
  detach(sessionId: string): void {
    void this.#opened?.then((session) => this.#transport.post('Target.detachFromTarget', { sessionId }, session));
  }

  /** Ends the session and those that it has opened. */
  async close(): Promise<void> {
    const opened = this.#opened;
    this.#opened = undefined;
    const sessionId = await opened?.catch(() => undefined);
    if (sessionId === undefined) return;
    await this.#transport.call('Target.detachFromTarget', { sessionId }).catch(() => undefined);
  }

  /** Opens it on the first call. */
  #open(): Promise<string> {
    this.#opened ??= this.#start();
    const opened = this.#opened;
    // After a failure, the next call tries again.
    opened.catch(() => {
      if (this.#opened === opened) this.#opened = undefined;
    });
    return opened;
  }

  async #start(): Promise<string> {
    return v.parse(attached, await this.#transport.call('Target.attachToBrowserTarget')).sessionId;
  }
}
