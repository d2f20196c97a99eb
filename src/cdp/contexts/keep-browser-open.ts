import type { CdpMessage } from '../message.ts';
import type { Interceptor, InterceptorTransport } from '../transport/interceptor.ts';

/**
 * Keeps a client from closing the browser. Puppeteer's `browser.close()` does that even if Puppeteer has only
 * connected. A hosted browser ends when its lease is released, which makes room in the pool. Playwright only
 * disconnects.
 */
export class KeepBrowserOpen implements Interceptor {
  readonly #transport: InterceptorTransport;

  constructor(transport: InterceptorTransport) {
    this.#transport = transport;
  }

  onCommand(command: CdpMessage): CdpMessage | null {
    if (command.method !== 'Browser.close') return command;
    const { id, sessionId } = command;
    this.#transport.deliver({ id, result: {}, ...(sessionId !== undefined && { sessionId }) });
    return null;
  }
}
