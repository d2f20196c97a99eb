import type { Interceptor, InterceptorLink } from '../transport/interceptor.ts';
import type { CdpMessage } from '../transport/message.ts';

/**
 * Keeps a client from ending the browser. Puppeteer's `browser.close()` does, also where it has only connected; a hosted
 * browser ends when it is given back, which is what makes a pool's lease free again. Playwright disconnects only.
 */
export class LeavesOpen implements Interceptor {
  readonly #link: InterceptorLink;

  constructor(link: InterceptorLink) {
    this.#link = link;
  }

  onCommand(command: CdpMessage): CdpMessage | null {
    if (command.method !== 'Browser.close') return command;
    const { id, sessionId } = command;
    this.#link.deliver({ id, result: {}, ...(sessionId !== undefined && { sessionId }) });
    return null;
  }
}
