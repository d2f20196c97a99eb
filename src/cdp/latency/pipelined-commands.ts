import type { Savings } from '../figures.ts';
import type { CdpMessage } from '../message.ts';
import { hasThrown, objectOf } from '../model/remote-objects.ts';
import type { InterceptorTransport } from '../transport/interceptor.ts';
import { isTargetGone } from '../transport/owed-responses.ts';

/** What happens to the response to a command. */
type State =
  /** The client has not sent the command. */
  | { readonly is: 'waiting' }
  /** The same, and the response has arrived. */
  | { readonly is: 'responded'; readonly response: CdpMessage }
  /** The client has sent this command, and waits for the response. */
  | { readonly is: 'asked'; readonly command: CdpMessage }
  /** Another component takes it; null if there is no usable response. */
  | { readonly is: 'taken'; readonly taker: (response: CdpMessage | null) => void }
  /** It is not needed. */
  | { readonly is: 'dropped' };

/** A command that the client has not sent itself. */
interface Sent {
  /** What the client must send to get the response. */
  readonly key: string;
  readonly sessionId: string | undefined;
  readonly sentAt: number;
  state: State;
  /** Called with the response as soon as it arrives. */
  readonly onResponse?: ((response: CdpMessage) => void) | undefined;
}

/** How responses of one kind may be used. */
interface Uses {
  /** Decides about each result without an exception. Default: all are usable. */
  isUsable?(response: CdpMessage): boolean;
}

/** The most commands that may wait for the client; the oldest is dropped. */
const MAX_WAITING = 200;

/**
 * Commands that are sent before the client sends them, and their responses until it does. A response is used once, only
 * for exactly the same command, and only if it is a result: otherwise the client's own command is sent, unless its
 * target is gone. Unused commands are dropped together with their responses, and the objects in these are released.
 */
export class PipelinedCommands {
  readonly #transport: InterceptorTransport;
  readonly #savings: Savings;
  readonly #uses: Uses;
  readonly #pending = new Map<number, Sent>();
  /** In the order in which they were sent. */
  readonly #waiting = new Set<Sent>();

  constructor(transport: InterceptorTransport, savings: Savings, uses: Uses = {}) {
    this.#transport = transport;
    this.#savings = savings;
    this.#uses = uses;
    transport.model.onSessionEnd(({ id }) => this.drop((sessionId) => sessionId === id));
  }

  /** Sends a command that the client will send as `key`. @param onResponse called with any response */
  send(key: string, command: Omit<CdpMessage, 'id'>, onResponse?: (response: CdpMessage) => void): void {
    this.#waiting.add(this.#send(key, command, { is: 'waiting' }, onResponse));
    const [oldest] = this.#waiting;
    if (oldest && this.#waiting.size > MAX_WAITING) this.#drop(oldest);
  }

  /** Sends a command that the client will not send. */
  post(command: Omit<CdpMessage, 'id'>, onResponse?: (response: CdpMessage) => void): void {
    this.#send('', command, { is: 'dropped' }, onResponse);
  }

  /** Whether no response is expected, and none waits for the client. */
  get isIdle(): boolean {
    return this.#pending.size === 0 && this.#waiting.size === 0;
  }

  /** Whether a command waits for the client as `key`. */
  has(key: string): boolean {
    return this.#find(key) !== undefined;
  }

  /** The client sends this command. Returns whether it gets its response from here. */
  ask(key: string, command: CdpMessage): boolean {
    const sent = this.#find(key);
    if (!sent) return false;
    const { state } = sent;
    this.#waiting.delete(sent);
    this.#savings.used(sent.sentAt);
    if (state.is === 'responded') this.#transport.deliver({ ...state.response, id: command.id });
    else sent.state = { is: 'asked', command };
    return true;
  }

  /**
   * The client has sent the command, and gets another response. Not possible if the response has arrived: returns false
   * then.
   * @param taker gets the response; null if there is no usable one
   */
  take(key: string, taker: (response: CdpMessage | null) => void): boolean {
    const sent = this.#find(key);
    if (!sent || sent.state.is === 'responded') return false;
    this.#waiting.delete(sent);
    this.#savings.used();
    sent.state = { is: 'taken', taker };
    return true;
  }

  /** Returns null for a response that is not for the client, otherwise the message for the client. */
  onMessage(message: CdpMessage): CdpMessage | null {
    const { id } = message;
    const sent = id === undefined ? undefined : this.#pending.get(id);
    if (id === undefined || !sent) return message;
    this.#pending.delete(id);
    sent.onResponse?.(message);
    const { state } = sent;
    const isUsable = !message.error && !hasThrown(message) && (this.#uses.isUsable?.(message) ?? true);
    if (state.is === 'asked' && (isUsable || isTargetGone(message))) return { ...message, id: state.command.id };
    if (!isUsable || state.is === 'dropped') this.#release(message);
    if (state.is === 'asked') this.#transport.pass(state.command);
    if (state.is === 'taken') state.taker(isUsable ? message : null);
    if (state.is !== 'waiting') return null;
    if (isUsable) sent.state = { is: 'responded', response: message };
    else this.#waiting.delete(sent);
    return null;
  }

  /** The client will not send these. @param which default: all */
  drop(which: (sessionId: string | undefined, key: string) => boolean = () => true): void {
    for (const sent of [...this.#waiting]) if (which(sent.sessionId, sent.key)) this.#drop(sent);
  }

  #send(key: string, command: Omit<CdpMessage, 'id'>, state: State, onResponse?: Sent['onResponse']): Sent {
    const sent: Sent = { key, sessionId: command.sessionId, sentAt: this.#savings.now(), state, onResponse };
    this.#pending.set(this.#transport.send(command), sent);
    return sent;
  }

  #drop(sent: Sent): void {
    const { state } = sent;
    this.#waiting.delete(sent);
    sent.state = { is: 'dropped' };
    if (state.is === 'responded') this.#release(state.response);
  }

  /** The client does not get the object in this response. */
  #release(response: CdpMessage): void {
    const { sessionId } = response;
    const { objectId } = objectOf(response);
    if (typeof objectId !== 'string' || !this.#transport.model.session(sessionId)) return;
    this.post({ method: 'Runtime.releaseObject', params: { objectId }, sessionId });
  }

  #find(key: string): Sent | undefined {
    for (const sent of this.#waiting) if (sent.key === key) return sent;
    return undefined;
  }
}

/** Equal for two commands that differ only in their ID. */
export function commandKey({ sessionId = '', method, params }: CdpMessage): string {
  return `${sessionId} ${method} ${JSON.stringify(params ?? {})}`;
}
