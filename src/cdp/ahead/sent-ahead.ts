import { isTargetGone } from '../transport/browser-responses.ts';
import type { InterceptorLink } from '../transport/interceptor.ts';
import type { CdpMessage } from '../transport/message.ts';
import type { Savings } from './savings.ts';

/** A command that was sent before the client asked for it. */
interface Sent {
  /** What the client has to ask for. */
  readonly key: string;
  readonly sessionId: string | undefined;
  readonly sentAt: number;
  /** The browser's, while the client has not asked, and when it came. */
  answer?: CdpMessage;
  answeredAt?: number;
  /** The client's command, while the browser has not answered. */
  asked?: CdpMessage;
  /** Gets the answer in the client's place; null, if there is none that is usable. */
  taker?: (answer: CdpMessage | null) => void;
  /** Nobody waits for it any more. */
  dropped?: boolean;
  /** Told of the answer as soon as it is there. */
  readonly onAnswer?: ((answer: CdpMessage) => void) | undefined;
}

/** What the answers of one kind are good for. */
interface Uses {
  /** Asked about each result; all are usable unless given. */
  isUsable?(answer: CdpMessage): boolean;
  /** Told of each answer that the client does not get. */
  onUnused?(answer: CdpMessage): void;
  /** How long an answer is kept for the client, in ms; for ever unless given. */
  freshMs?: number;
}

/** Most commands that may wait to be asked for; the oldest goes. */
const MAX_WAITING = 200;

/**
 * Commands that were sent before the client asked for them, and their answers until it does. One is used only for exactly
 * the command that it was sent for, and once; only an answer that is a result is used: for anything else the client's own
 * command is sent, unless its target is gone. What is not asked for is dropped, its answer too.
 */
export class SentAhead {
  readonly #link: InterceptorLink;
  readonly #savings: Savings;
  readonly #uses: Uses;
  readonly #unanswered = new Map<number, Sent>();
  /** The client's own ID of each of its commands that is sent after all. */
  readonly #late = new Map<number, number>();
  /** In the order in which they were sent. */
  readonly #waiting = new Set<Sent>();

  constructor(link: InterceptorLink, savings: Savings, uses: Uses = {}) {
    this.#link = link;
    this.#savings = savings;
    this.#uses = uses;
  }

  /** Sends a command for which the client will ask as `key`. @param onAnswer told of the answer, whatever it is */
  send(key: string, command: Omit<CdpMessage, 'id'>, onAnswer?: (answer: CdpMessage) => void): void {
    const sent: Sent = { key, sessionId: command.sessionId, sentAt: this.#savings.now(), onAnswer };
    this.#unanswered.set(this.#link.send(command), sent);
    this.#waiting.add(sent);
    const [oldest] = this.#waiting;
    if (oldest && this.#waiting.size > MAX_WAITING) this.#drop(oldest);
  }

  /** Sends a command for which the client will not ask. */
  post(command: Omit<CdpMessage, 'id'>, onAnswer?: (answer: CdpMessage) => void): void {
    const { sessionId } = command;
    const sent: Sent = { key: '', sessionId, sentAt: this.#savings.now(), dropped: true, onAnswer };
    this.#unanswered.set(this.#link.send(command), sent);
  }

  /** Whether something waits to be asked for as `key`. */
  has(key: string): boolean {
    return this.#find(key) !== undefined;
  }

  /** The client sends this command. Returns whether it gets its answer from here. */
  ask(key: string, command: CdpMessage): boolean {
    const sent = this.#find(key);
    if (!sent) return false;
    const { freshMs = Number.POSITIVE_INFINITY } = this.#uses;
    if (sent.answeredAt !== undefined && this.#savings.now() - sent.answeredAt > freshMs) {
      this.#drop(sent);
      return false;
    }
    this.#waiting.delete(sent);
    this.#savings.used(sent.sentAt);
    if (sent.answer) this.#link.deliver({ ...sent.answer, id: command.id });
    else sent.asked = command;
    return true;
  }

  /**
   * The client has asked, and is told something else. Returns whether that is possible: not, if the answer is there.
   * @param taker gets the answer; null, if there is none that is usable
   */
  take(key: string, taker: (answer: CdpMessage | null) => void): boolean {
    const sent = this.#find(key);
    if (!sent || sent.answer) return false;
    this.#waiting.delete(sent);
    this.#savings.used();
    sent.taker = taker;
    return true;
  }

  /** Returns null for what was not for the client, else what the client gets. */
  onMessage(message: CdpMessage): CdpMessage | null {
    const { id } = message;
    if (id === undefined) return message;
    const asker = this.#late.get(id);
    if (asker !== undefined) {
      this.#late.delete(id);
      return { ...message, id: asker };
    }
    const sent = this.#unanswered.get(id);
    if (!sent) return message;
    this.#unanswered.delete(id);
    sent.onAnswer?.(message);
    const isUsable = message.error === undefined && (this.#uses.isUsable?.(message) ?? true);
    if (sent.dropped) {
      this.#uses.onUnused?.(message);
    } else if (sent.taker) {
      if (!isUsable) this.#uses.onUnused?.(message);
      sent.taker(isUsable ? message : null);
    } else if (sent.asked) {
      if (isUsable || isTargetGone(message)) return { ...message, id: sent.asked.id };
      this.#uses.onUnused?.(message);
      this.sendLate(sent.asked);
    } else if (isUsable) {
      sent.answer = message;
      sent.answeredAt = this.#savings.now();
    } else {
      this.#waiting.delete(sent);
      this.#uses.onUnused?.(message);
    }
    return null;
  }

  /** Sends a command of the client that was held back; the client gets the answer. */
  sendLate({ id, ...command }: CdpMessage): void {
    const late = this.#link.send(command);
    if (id !== undefined) this.#late.set(late, id);
  }

  /** Nobody will ask for these any more. @param which all unless given */
  drop(which: (sessionId: string | undefined, key: string) => boolean = () => true): void {
    for (const sent of [...this.#waiting]) if (which(sent.sessionId, sent.key)) this.#drop(sent);
  }

  #drop(sent: Sent): void {
    this.#waiting.delete(sent);
    sent.dropped = true;
    if (sent.answer) this.#uses.onUnused?.(sent.answer);
  }

  #find(key: string): Sent | undefined {
    for (const sent of this.#waiting) if (sent.key === key) return sent;
    return undefined;
  }
}

/** What says that two commands are the same but for their ID. */
export function commandKey({ sessionId = '', method, params }: CdpMessage): string {
  return `${sessionId} ${method} ${JSON.stringify(params ?? {})}`;
}
