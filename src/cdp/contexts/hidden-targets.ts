import type { Protocol } from 'devtools-protocol';
import type { Interceptor, InterceptorTransport } from '../transport/interceptor.ts';
import { type CdpMessage, fieldsOf } from '../transport/message.ts';

/** The target types that clients treat as pages: Playwright attaches to pages, Puppeteer to their tabs. */
const PAGES = new Set<unknown>(['page', 'tab']);

/**
 * Hides the pages that a browser has when the client connects. Playwright would adopt them into the default context:
 * then every failed test would get two screenshots, one of them blank, and an unresponsive page would delay the
 * connection. Pages opened later are shown, including popups, and so are workers.
 *
 * The browser announces existing pages between the client's first `Target.setAutoAttach` to the browser, or an earlier
 * `setDiscoverTargets`, and the response to the former.
 */
export class HiddenTargets implements Interceptor {
  readonly #transport: InterceptorTransport;
  #state: 'begun' | 'attaching' | 'connected' = 'begun';
  /** ID of the client's `Target.setAutoAttach`. */
  #attachingId: number | undefined;
  #isDiscovering = false;

  constructor(transport: InterceptorTransport) {
    this.#transport = transport;
    transport.view.addRule(({ target }) => this.#state === 'attaching' && PAGES.has(target.type));
  }

  onCommand(command: CdpMessage): CdpMessage {
    if (this.#state === 'connected' || command.sessionId !== undefined) return command;
    if (command.method === 'Target.setDiscoverTargets') this.#isDiscovering = true;
    if (command.method === 'Target.setAutoAttach') {
      this.#state = 'attaching';
      this.#attachingId = command.id;
    }
    return command;
  }

  onMessage(message: CdpMessage): CdpMessage | null {
    const { id, method, params } = message;
    if (this.#state === 'connected') return message;
    if (id !== undefined && id === this.#attachingId) this.#state = 'connected';
    if (method !== 'Target.targetCreated' || !this.#isDiscovering) return message;
    const { targetInfo } = fieldsOf<Protocol.Target.TargetCreatedEvent>(params);
    const { targetId, type } = fieldsOf<Protocol.Target.TargetInfo>(targetInfo);
    if (!PAGES.has(type)) return message;
    this.#transport.view.own(String(targetId));
    return null;
  }
}
