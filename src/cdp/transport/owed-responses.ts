import { setImmediate } from '../../common/clock.ts';
import type { CdpMessage } from '../message.ts';
import type { BrowserModel } from '../model/browser-model.ts';
import type { Target } from '../model/session.ts';
import type { BrowserCommands } from './interceptor.ts';
import { isOwnId } from './own-commands.ts';
import { type PendingCommand, PendingCommands } from './pending-commands.ts';

/** Chromium's response to a command in a session that has ended. */
const SESSION_GONE = { code: -32_001, message: 'Session with given id not found.' };
/** Chromium's response to commands that a crashed process did not respond to. */
const CRASHED = { code: -32_000, message: 'Target crashed' };
/** Commands that give a crashed page a new process. Chromium responds to these. */
const REVIVES = new Set(['Page.navigate', 'Page.navigateToHistoryEntry', 'Page.reload']);

/** Whether a response shows that its target is gone: a retry would get the same response. */
export function isTargetGone({ error }: CdpMessage): boolean {
  return error?.code === SESSION_GONE.code || error?.message === CRASHED.message;
}

/** Where this class sends the responses that it creates. */
interface ResponseEnds {
  /** Passes the interceptors like a response from the browser. */
  fromBrowser(response: CdpMessage): void;
  toClient(response: CdpMessage): void;
}

/**
 * Tracks pending commands: those that the browser has to respond to, and those that the client waits for, whatever an
 * interceptor does with them. Each gets one response. Chromium leaves some without one (measured with version 156):
 *
 * - A session is detached, or its target closed: Chromium never responds to commands that the renderer or another
 *   process had not responded to by then, and does not announce the end of the sessions within it. Later commands get
 *   `-32001`. Here, all of them get that. (Clients reject their commands when they receive the session's end.)
 * - A process crashes: Chromium responds to its pending commands with `-32000 Target crashed` only when the page
 *   navigates the next time, and never to a screenshot. Here, all get that response as soon as the browser process has
 *   responded to what it can, including commands sent until then. Our own later commands get it, too: Chromium would
 *   keep them for the page's next process, which may never come.
 * - A document is navigated away: every command gets a response, most of them `-32000 Inspected target navigated or
 *   closed`. Screenshots are the exception, see `LostScreenshots`.
 *
 * The browser's missing responses come first and pass the interceptors; then those that the client still waits for,
 * whichever interceptor holds the command.
 */
export class OwedResponses {
  readonly #byBrowser = new PendingCommands();
  readonly #toClient = new PendingCommands();
  readonly #model: BrowserModel;
  readonly #ask: BrowserCommands['call'];
  readonly #ends: ResponseEnds;

  /** @param ask sends a command to the browser itself */
  constructor(model: BrowserModel, ask: BrowserCommands['call'], ends: ResponseEnds) {
    this.#model = model;
    this.#ask = ask;
    this.#ends = ends;
    model.onSessionEnd(({ id }) => this.#respondTo(({ sessionId }) => sessionId === id, SESSION_GONE));
  }

  /** The client has sent a command. */
  asked(command: CdpMessage): void {
    this.#toClient.add(command);
  }

  /** A command goes to the browser. */
  sent(command: CdpMessage): void {
    this.#byBrowser.add(command);
    const target = isOwnId(command.id) ? this.#model.session(command.sessionId)?.target : undefined;
    if (target?.isCrashed) void this.#crashed(target, ({ id }) => isOwnId(id));
  }

  /** Whether the browser still has to respond to such a command, or the client waits for such a response. */
  isPending(which: (command: PendingCommand) => boolean): boolean {
    return this.#byBrowser.list(which).length + this.#toClient.list(which).length > 0;
  }

  /** Returns whether a message from the browser is an event or the first response to a command. */
  accepts({ id }: CdpMessage): boolean {
    return id === undefined || this.#byBrowser.settle(id);
  }

  /** Returns whether a message to the client is an event or the first response to one of its commands. */
  admits({ id }: CdpMessage): boolean {
    return id === undefined || this.#toClient.settle(id);
  }

  /** The client receives the end of these sessions, and rejects its commands in them itself. */
  ended(sessionIds: readonly string[]): void {
    this.#toClient.take(({ sessionId }) => sessionIds.some((ended) => ended === sessionId));
  }

  /** The interceptors and the client have received this message from the browser. */
  passed({ method, sessionId }: CdpMessage): void {
    const session = method === 'Inspector.targetCrashed' ? this.#model.session(sessionId) : undefined;
    if (session) void this.#crashed(session.target);
  }

  /** Responds to a crashed page's commands. @param which default: all */
  async #crashed({ sessions }: Target, which: (command: PendingCommand) => boolean = () => true): Promise<void> {
    try {
      await this.#ask('Browser.getVersion');
    } catch {
      // The connection has closed: the client finds out from that.
      return;
    }
    const ids = new Set<string | undefined>(Array.from(sessions, ({ id }) => id));
    const isLost = ({ sessionId, method }: PendingCommand) => ids.has(sessionId) && !REVIVES.has(method);
    this.#respondTo((command) => isLost(command) && which(command), CRASHED);
  }

  #respondTo(which: (command: PendingCommand) => boolean, error: NonNullable<CdpMessage['error']>): void {
    const respond = (commands: PendingCommand[], where: (response: CdpMessage) => void) => {
      // Each in a separate task, like messages from the browser.
      for (const { id, sessionId } of commands) setImmediate(() => where({ id, sessionId, error }));
    };
    respond(this.#byBrowser.take(which), this.#ends.fromBrowser);
    setImmediate(() => respond(this.#toClient.list(which), this.#ends.toClient));
  }
}
