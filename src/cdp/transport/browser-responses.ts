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
  readonly #ask: BrowserCommands['call'];
  readonly #respond: (message: CdpMessage) => void;

  /**
   * @param ask asks the browser itself
   * @param respond takes the response that the browser does not give
   */
  constructor(ask: BrowserCommands['call'], respond: (message: CdpMessage) => void) {
    this.#ask = ask;
    this.#respond = respond;
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
  passed(message: CdpMessage): void {
    if (message.id !== undefined) return;
    this.#end(this.#pending.onEvent(message), SESSION_GONE);
    const { method, sessionId } = message;
    if (method === 'Inspector.targetCrashed' && sessionId !== undefined) void this.#crashed(sessionId);
  }

  async #crashed(sessionId: string): Promise<void> {
    try {
      await this.#ask('Browser.getVersion');
    } catch {
      // The link is down: the client hears of that.
      return;
    }
    this.#end(this.#pending.takeCrashed(sessionId, REVIVES), CRASHED);
  }

  #end(commands: readonly CdpMessage[], error: NonNullable<CdpMessage['error']>): void {
    for (const { id, sessionId } of commands) {
      // Each in a task of its own, as those of the browser.
      setImmediate(() => this.#respond({ id, sessionId, error }));
    }
  }
}
