import type { Protocol } from 'devtools-protocol';
import type { Interceptor, InterceptorLink } from '../../transport/interceptor.ts';
import { type CdpMessage, fieldsOf } from '../../transport/message.ts';
import type { Savings } from '../savings.ts';
import { SentAhead } from '../sent-ahead.ts';
import { HiddenSessions } from './hidden-sessions.ts';
import { Windows } from './windows.ts';

/** A target that the client is attached to. */
interface Attached {
  sessionId: string;
  targetId: unknown;
  type: unknown;
  contextId: unknown;
  /** In a session of the client's or a test's; else the browser announced it to the client itself. */
  parent: string | undefined;
}

/**
 * Lets the client go on while the browser closes a context: it is told that its page is gone and the context disposed of,
 * which the browser does in the meantime, before anything that the client sends from then on. Only where the browser would
 * say nothing else: of several pages, or a page with frames or workers of their own, only the browser knows the order,
 * and sessions of a test's own are told of it too. A new page's window is opened when the old one's is gone, as ever.
 */
export class EarlyClose implements Interceptor {
  readonly #link: InterceptorLink;
  readonly #savings: Savings;
  readonly #sent: SentAhead;
  readonly #attached = new Map<string, Attached>();
  readonly #hidden = new HiddenSessions();
  /** Contexts that the client takes for closed, and the browser has not closed yet. */
  readonly #closing = new Set<unknown>();
  readonly #windows = new Windows();
  /** The client's commands for new pages that wait until the windows of the old ones are gone. */
  readonly #waiting: CdpMessage[] = [];

  constructor(link: InterceptorLink, savings: Savings) {
    this.#link = link;
    this.#savings = savings;
    this.#sent = new SentAhead(link, savings);
  }

  onCommand(command: CdpMessage): CdpMessage | null {
    const { id, method, params, sessionId } = command;
    this.#windows.onCommand(command);
    if (method === 'Target.createTarget' && sessionId === undefined && this.#closing.size > 0 && this.#windows.exist) {
      this.#waiting.push(command);
      return null;
    }
    if (method !== 'Target.disposeBrowserContext' || sessionId !== undefined || !this.#savings.isFar) return command;
    const { browserContextId } = fieldsOf<Protocol.Target.DisposeBrowserContextRequest>(params);
    const targets = this.#targetsOf(browserContextId);
    const isPlain = targets.length < 2 && targets.every(({ type, parent }) => type === 'page' && parent === undefined);
    if (!isPlain || typeof browserContextId !== 'string') return command;
    this.#closing.add(browserContextId);
    this.#sent.post({ method, params }, () => this.#closed(browserContextId));
    for (const target of targets) {
      this.#attached.delete(target.sessionId);
      this.#hidden.hide(target.sessionId);
      const { sessionId: gone, targetId } = target;
      this.#link.deliver({ method: 'Target.detachedFromTarget', params: { sessionId: gone, targetId } });
    }
    this.#savings.used();
    this.#link.deliver({ id, result: {} });
    return null;
  }

  onMessage(message: CdpMessage): CdpMessage | null {
    const { id, method } = message;
    if (id !== undefined) {
      this.#windows.onAnswer(message);
      return this.#sent.onMessage(message);
    }
    if (this.#hidden.onMessage(message) === null) return null;
    if (method === 'Target.attachedToTarget') return this.#onAttached(message);
    if (method !== 'Target.detachedFromTarget') return message;
    const { sessionId } = fieldsOf<Protocol.Target.DetachedFromTargetEvent>(message.params);
    if (typeof sessionId !== 'string') return message;
    this.#forget(sessionId);
    return this.#hidden.onDetached(sessionId) ? null : message;
  }

  #onAttached(message: CdpMessage): CdpMessage | null {
    const { sessionId, targetInfo } = fieldsOf<Protocol.Target.AttachedToTargetEvent>(message.params);
    const { targetId, type, browserContextId: contextId } = fieldsOf<Protocol.Target.TargetInfo>(targetInfo);
    if (typeof sessionId !== 'string') return message;
    if (this.#closing.has(contextId)) {
      this.#hidden.hide(sessionId);
      return null;
    }
    this.#attached.set(sessionId, { sessionId, targetId, type, contextId, parent: message.sessionId });
    return message;
  }

  #closed(browserContextId: string): void {
    this.#closing.delete(browserContextId);
    if (this.#closing.size > 0) return;
    for (const command of this.#waiting.splice(0)) this.#sent.sendLate(command);
  }

  /** All that is attached in a context, or announced by what is. */
  #targetsOf(contextId: unknown): Attached[] {
    const own = [...this.#attached.values()].filter((target) => target.contextId === contextId);
    return own.concat(own.flatMap(({ sessionId }) => this.#childrenOf(sessionId)));
  }

  #childrenOf(parent: string): Attached[] {
    return [...this.#attached.values()].filter((target) => target.parent === parent);
  }

  /** A session is over, and with it all that was announced in it. */
  #forget(sessionId: string): void {
    this.#attached.delete(sessionId);
    for (const child of this.#childrenOf(sessionId)) this.#forget(child.sessionId);
  }
}
