import type { Protocol } from 'devtools-protocol';
import { type CdpMessage, fieldsOf } from '../message.ts';

/**
 * Whether a browser's pages have separate windows, which compete for position and focus. The headless shell has none,
 * and reports its name; all other browsers are assumed to have windows.
 */
export class Windows {
  exist = true;

  /** Takes a response: the one to `Browser.getVersion` contains the browser's name. */
  onResponse({ result }: CdpMessage): void {
    const { product } = fieldsOf<Protocol.Browser.GetVersionResponse>(result);
    if (typeof product !== 'string') return;
    this.exist = !product.startsWith('HeadlessChrome/');
  }
}
