import type { Protocol } from 'devtools-protocol';
import * as v from 'valibot';
import { type CdpMessage, fieldsOf } from '../message.ts';
import type { InterceptorTransport } from '../transport/interceptor.ts';
import type { BrowserOpenings } from './browser-openings.ts';

const attached = v.looseObject({ sessionId: v.string() });

/**
 * Our own session on the browser. Sessions that it opens on pages are ours, too: a client's session on the same page
 * cannot be mistaken for one of them. The client sees none of this.
 */
export class BrowserSession {
  readonly #transport: InterceptorTransport;
  readonly #openings: BrowserOpenings;
  #opened: Promise<string> | undefined;
  /** The times that it is being opened or closed. */
  #changes = 0;

  constructor(transport: InterceptorTransport, openings: BrowserOpenings) {
    this.#transport = transport;
    this.#openings = openings;
  }

  /**
   * Whether an event only reports that this session begins or ends: clients that list targets, as Puppeteer does, learn
   * whether the browser itself has a session.
   */
  isOwnChange({ method, params }: CdpMessage): boolean {
    if (this.#changes === 0 || method !== 'Target.targetInfoChanged') return false;
    const { targetInfo } = fieldsOf<Protocol.Target.TargetInfoChangedEvent>(params);
    return fieldsOf<Protocol.Target.TargetInfo>(targetInfo).type === 'browser';
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
    await this.#change(this.#transport.call('Target.detachFromTarget', { sessionId })).catch(() => undefined);
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
    // The browser announces sessions in the order of the commands: the next one must be ours.
    await this.#openings.over();
    this.#transport.view.claimBrowserSession();
    return v.parse(attached, await this.#change(this.#transport.call('Target.attachToBrowserTarget'))).sessionId;
  }

  async #change<Result>(command: Promise<Result>): Promise<Result> {
    this.#changes += 1;
    try {
      return await command;
    } finally {
      this.#changes -= 1;
    }
  }
}
