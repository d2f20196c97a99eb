import type { Protocol } from 'devtools-protocol';
import { Windows } from '../../contexts/windows.ts';
import type { Savings } from '../../figures.ts';
import { type CdpMessage, fieldsOf } from '../../message.ts';
import type { BrowserModel } from '../../model/browser-model.ts';
import { type Session, withDescendants } from '../../model/session.ts';
import type { Interceptor, InterceptorTransport } from '../../transport/interceptor.ts';
import { PipelinedCommands } from '../pipelined-commands.ts';

/**
 * Lets the client continue while the browser closes a context: the client immediately gets the events that its page is
 * gone, and the response that the context is disposed. The browser does that in the meantime, before any later command
 * of the client. This happens only when the browser would report nothing else: with several pages, or a page with
 * out-of-process frames or workers, only the browser knows the order, and sessions that a test has opened get these
 * events, too. A new page's window opens when the old one is gone, as usual.
 */
export class EarlyClose implements Interceptor {
  readonly #transport: InterceptorTransport;
  readonly #savings: Savings;
  readonly #sent: PipelinedCommands;
  /** Contexts that are closed for the client, but not yet in the browser. */
  readonly #closing = new Set<string>();
  readonly #windows: Windows;
  readonly #events: ClosingEvents;
  /** Commands of the client for new pages that wait until the old windows are gone. */
  readonly #waiting: CdpMessage[] = [];

  /** @param events what the client gets when a context is closed. Default: what Playwright gets */
  constructor(
    transport: InterceptorTransport,
    savings: Savings,
    windows: Windows = new Windows(),
    events: ClosingEvents = new DetachedPages(transport.model),
  ) {
    this.#transport = transport;
    this.#savings = savings;
    this.#windows = windows;
    this.#events = events;
    this.#sent = new PipelinedCommands(transport, savings);
  }

  onCommand(command: CdpMessage): CdpMessage | null {
    const { id, method, params, sessionId } = command;
    if (method === 'Target.createTarget' && sessionId === undefined && this.#closing.size > 0 && this.#windows.exist) {
      this.#waiting.push(command);
      return null;
    }
    if (method !== 'Target.disposeBrowserContext' || sessionId !== undefined || !this.#savings.isFar) return command;
    const { browserContextId } = fieldsOf<Protocol.Target.DisposeBrowserContextRequest>(params);
    if (typeof browserContextId !== 'string') return command;
    const events = this.#events.of(browserContextId);
    if (!events) return command;
    this.#closing.add(browserContextId);
    this.#transport.view.hide(browserContextId);
    this.#sent.post({ method, params }, () => this.#closed(browserContextId));
    for (const event of events) this.#transport.deliver(event);
    this.#savings.used();
    this.#transport.deliver({ id, result: {} });
    return null;
  }

  onMessage(message: CdpMessage): CdpMessage | null {
    this.#windows.onResponse(message);
    return this.#events.hides?.(message) ? null : this.#sent.onMessage(message);
  }

  #closed(browserContextId: string): void {
    this.#closing.delete(browserContextId);
    this.#transport.view.closed(browserContextId);
    this.#events.closed?.(browserContextId);
    if (this.#closing.size > 0) return;
    for (const command of this.#waiting.splice(0)) this.#transport.pass(command);
  }
}

/** What a client gets when it closes a context. */
export interface ClosingEvents {
  /** The events, in the browser's order; null if only the browser knows them. The context is closed for the client. */
  of(browserContextId: string): CdpMessage[] | null;
  /** Whether a message is about a context that is closed for the client, and belongs to no session. */
  hides?(message: CdpMessage): boolean;
  /** The browser has closed a context, too. */
  closed?(browserContextId: string): void;
}

/** The sessions in a context that the client knows. */
export function shownSessions(model: BrowserModel, browserContextId: string): Session[] {
  const all = new Set(model.sessionsIn(browserContextId).flatMap(withDescendants));
  return [...all].filter(({ isShown }) => isShown);
}

/** What Playwright gets: the end of the page's session. */
class DetachedPages implements ClosingEvents {
  readonly #model: BrowserModel;

  constructor(model: BrowserModel) {
    this.#model = model;
  }

  of(browserContextId: string): CdpMessage[] | null {
    const shown = shownSessions(this.#model, browserContextId);
    const isPlain = shown.length < 2 && shown.every(({ target, parent }) => target.type === 'page' && !parent);
    if (!isPlain) return null;
    return shown.map(({ id: sessionId, target }) => ({
      method: 'Target.detachedFromTarget',
      params: { sessionId, targetId: target.id },
    }));
  }
}
