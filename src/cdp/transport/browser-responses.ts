import type { BrowserModel } from '../model/browser-model.ts';
import type { Target } from '../model/session.ts';
import type { BrowserCommands } from './interceptor.ts';
import type { CdpMessage } from './message.ts';
import { PendingCommands } from './pending-commands.ts';

/** What Chromium answers to a command in a session that is over. */
const SESSION_GONE = { code: -32_001, message: 'Session with given id not found.' };
/** What Chromium answers to the commands that a crashed process leaves behind. */
const CRASHED = { code: -32_000, message: 'Target crashed' };
/** Commands that give a crashed page a new process: those it answers. */
const REVIVES = new Set(['Page.navigate', 'Page.navigateToHistoryEntry', 'Page.reload']);

/** Whether a response is the end of what it was asked for: the same command again would get no other. */
export function isTargetGone({ error }: CdpMessage): boolean {
  return error?.code === SESSION_GONE.code || error?.message === CRASHED.message;
}

/**
 * Sees to it that each command that is sent to the browser gets one response, which no interceptor has to wait for in
 * vain. Chromium leaves some without, as measured with version 156:
 *
 * - A session is detached, or its target closed: what its renderer or another process had not answered by then, never is,
 *   and nothing announces the end of the sessions within it. A command that comes later gets `-32001`. Here, all get that.
 *   (Clients reject theirs when they hear of the end.)
 * - A process crashes: what it had not answered is answered when the page is navigated the next time, with
 *   `-32000 Target crashed`, and a screenshot never. Here, all get that, as soon as the browser itself has answered
 *   what it can: a command that is sent after the crash is answered by then, too.
 * - A document is navigated away: every command is answered, most of them with `-32000 Inspected target navigated or
 *   closed`. All but screenshots, see `LostScreenshots`.
 */
export class BrowserResponses {
  readonly #pending = new PendingCommands();
  readonly #model: BrowserModel;
  readonly #ask: BrowserCommands['call'];
  readonly #respond: (message: CdpMessage) => void;

  /**
   * @param ask asks the browser itself
   * @param respond takes the response that the browser does not give
   */
  constructor(model: BrowserModel, ask: BrowserCommands['call'], respond: (message: CdpMessage) => void) {
    this.#model = model;
    this.#ask = ask;
    this.#respond = respond;
    model.onSessionEnd(({ id }) => this.#end(this.#pending.take([id]), SESSION_GONE));
  }

  /** A command goes to the browser. */
  sent(command: CdpMessage): void {
    this.#pending.add(command);
  }

  /** Returns whether a message of the browser is an event, or the first response to a command. */
  accepts({ id }: CdpMessage): boolean {
    return id === undefined || this.#pending.settle(id);
  }

  /** The interceptors and the client have seen this message of the browser. */
  passed({ method, sessionId }: CdpMessage): void {
    const session = method === 'Inspector.targetCrashed' ? this.#model.session(sessionId) : undefined;
    if (session) void this.#crashed(session.target);
  }

  async #crashed({ sessions }: Target): Promise<void> {
    try {
      await this.#ask('Browser.getVersion');
    } catch {
      // The link is down: the client hears of that.
      return;
    }
    const ids = Array.from(sessions, ({ id }) => id);
    this.#end(this.#pending.take(ids, REVIVES), CRASHED);
  }

  #end(commands: readonly CdpMessage[], error: NonNullable<CdpMessage['error']>): void {
    for (const { id, sessionId } of commands) {
      // Each in a task of its own, as those of the browser.
      setImmediate(() => this.#respond({ id, sessionId, error }));
    }
  }
}
