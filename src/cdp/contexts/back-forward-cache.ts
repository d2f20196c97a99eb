import type { Protocol } from 'devtools-protocol';
import { monotonicNow } from '../../common/clock.ts';
import { type CdpMessage, fieldsOf } from '../message.ts';
import type { Interceptor, InterceptorTransport } from '../transport/interceptor.ts';

/** Code inserted before Playwright's own script. */
const KEEPS_OUT = "if (document.featurePolicy?.allowsFeature('unload')) addEventListener('unload', () => {});";

/** The events that Playwright waits for after a navigation. */
const LIFECYCLE = ['DOMContentLoaded', 'load'];

/**
 * When Playwright launches a browser, it disables the back/forward cache with a switch, and it cannot handle a page
 * from the cache: such a page fires no `load`, so `page.goBack()` waits in vain, and its requests are not routed. In
 * browsers that Playwright connects to, the cache is enabled.
 *
 * A page with an `unload` listener is not kept in the cache. This interceptor adds a listener to the script that
 * Playwright installs in every new document anyway, in an isolated world, where pages do not see it. Where a site
 * forbids such listeners, the browser would complain in the console, so none is added. For a page that comes from the
 * cache all the same, Playwright gets events that it is loaded.
 */
export class BackForwardCache implements Interceptor {
  readonly #transport: InterceptorTransport;

  constructor(transport: InterceptorTransport) {
    this.#transport = transport;
  }

  onCommand(command: CdpMessage): CdpMessage {
    if (command.method !== 'Page.addScriptToEvaluateOnNewDocument') return command;
    const params = fieldsOf<Protocol.Page.AddScriptToEvaluateOnNewDocumentRequest>(command.params);
    const { source, worldName } = params;
    // Playwright's own script is the one in a world that has a name.
    if (typeof source !== 'string' || typeof worldName !== 'string') return command;
    return { ...command, params: { ...params, source: `${KEEPS_OUT}\n${source}` } };
  }

  onMessage(message: CdpMessage): CdpMessage | null {
    if (message.method !== 'Page.frameNavigated') return message;
    const { type, frame } = fieldsOf<Protocol.Page.FrameNavigatedEvent>(message.params);
    if (type !== 'BackForwardCacheRestore') return message;
    const { id: frameId, loaderId } = fieldsOf<Protocol.Page.Frame>(frame);
    this.#transport.deliver(message);
    for (const name of LIFECYCLE) {
      const params = { frameId, loaderId, name, timestamp: monotonicNow() / 1000 };
      this.#transport.deliver({ method: 'Page.lifecycleEvent', params, sessionId: message.sessionId });
    }
    return null;
  }
}
