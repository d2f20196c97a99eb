import type { Protocol } from 'devtools-protocol';
import type { Interceptor, InterceptorLink } from '../transport/interceptor.ts';
import { type CdpMessage, fieldsOf } from '../transport/message.ts';

/** What is put before Playwright's own script. */
const KEEPS_OUT = "if (document.featurePolicy?.allowsFeature('unload')) addEventListener('unload', () => {});";

/** What Playwright waits for after a navigation. */
const LIFECYCLE = ['DOMContentLoaded', 'load'];

/**
 * Playwright turns the back/forward cache off where it launches a browser, by a switch, and is lost with a page that
 * comes out of it: such a page fires no `load`, so `page.goBack()` waits in vain, and its requests are not routed.
 * Browsers that are connected to have it on.
 *
 * A page with an `unload` listener is not kept in the cache. One is added to the script that Playwright installs in
 * every new document anyway, in a world of its own, where pages do not see it; where a site forbids such listeners the
 * browser would complain in the console, so there none is added. Of a page that comes out of the cache all the same
 * Playwright is told that it is loaded.
 */
export class BackForwardCache implements Interceptor {
  readonly #link: InterceptorLink;

  constructor(link: InterceptorLink) {
    this.#link = link;
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
    this.#link.deliver(message);
    for (const name of LIFECYCLE) {
      const params = { frameId, loaderId, name, timestamp: performance.now() / 1000 };
      this.#link.deliver({ method: 'Page.lifecycleEvent', params, sessionId: message.sessionId });
    }
    return null;
  }
}
