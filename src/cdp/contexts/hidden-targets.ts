import type { Protocol } from 'devtools-protocol';
import { type CdpMessage, fieldsOf } from '../message.ts';
import type { Interceptor, InterceptorTransport } from '../transport/interceptor.ts';
import { BrowserHealth } from './browser-health.ts';

/** The target types that clients treat as pages: Playwright attaches to pages, Puppeteer to their tabs. */
const PAGES = new Set<unknown>(['page', 'tab']);

/** Commands after which the browser announces the targets that it has. */
const ANNOUNCING = new Set<unknown>(['Target.setAutoAttach', 'Target.setDiscoverTargets']);

/**
 * Hides targets that the client has nothing to do with. First, the pages that a browser has when the client connects.
 * Playwright would adopt them into the default context: then every failed test would get two screenshots, one of them
 * blank, and an unresponsive page would delay the connection. Pages opened later are shown, including popups, and so
 * are workers.
 *
 * Second, everything in contexts that the client has not opened, such as a service worker that outlives its context:
 * it has no context then, and older versions of Playwright throw when they see it.
 *
 * The browser announces existing targets between the client's first `Target.setAutoAttach` to the browser, or an
 * earlier `setDiscoverTargets`, and the response to the former.
 */
export class HiddenTargets implements Interceptor {
  readonly #health: BrowserHealth;
  #state: 'begun' | 'connecting' | 'connected' = 'begun';
  /** ID of the client's `Target.setAutoAttach`. */
  #attachingId: number | undefined;
  /** IDs of the client's requests for a list of contexts. */
  readonly #lists = new Set<number>();

  constructor(transport: InterceptorTransport, health = new BrowserHealth()) {
    this.#health = health;
    health.attach(transport);
    transport.view.addRule(({ type, contextId }) => {
      if (this.#state === 'connecting' && PAGES.has(type)) return true;
      return type !== 'browser' && !health.isClients(contextId);
    });
  }

  onCommand(given: CdpMessage): CdpMessage {
    const command = this.#health.onCommand(given);
    const { id, method, sessionId } = command;
    if (sessionId !== undefined || id === undefined) return command;
    if (method === 'Target.getBrowserContexts') this.#lists.add(id);
    if (this.#state === 'connected' || !ANNOUNCING.has(method)) return command;
    this.#state = 'connecting';
    this.#health.look();
    if (method === 'Target.setAutoAttach') this.#attachingId = id;
    return command;
  }

  onMessage(message: CdpMessage): CdpMessage {
    const { id, result } = message;
    this.#health.onMessage(message);
    if (id === undefined) return message;
    if (id === this.#attachingId) this.#state = 'connected';
    if (!this.#lists.delete(id) || !result) return message;
    const { browserContextIds } = fieldsOf<Protocol.Target.GetBrowserContextsResponse>(result);
    if (!Array.isArray(browserContextIds)) return message;
    const shown = browserContextIds.filter((contextId) => this.#health.isClients(contextId));
    return { ...message, result: { ...result, browserContextIds: shown } };
  }
}
