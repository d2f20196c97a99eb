import type { Protocol } from 'devtools-protocol';
import { type CdpMessage, fieldsOf } from '../../transport/message.ts';

/**
 * Whether a browser's pages have windows of their own, which take each other's place and the focus. Those of the headless
 * shell have none; it says what it is. What is not known to have none has some.
 */
export class Windows {
  readonly #asked = new Set<number | undefined>();
  exist = true;

  /** To be told of the client's commands. */
  onCommand({ id, method }: CdpMessage): void {
    if (method === 'Browser.getVersion') this.#asked.add(id);
  }

  /** To be told of each answer. */
  onAnswer({ id, result }: CdpMessage): void {
    if (!this.#asked.delete(id)) return;
    const { product } = fieldsOf<Protocol.Browser.GetVersionResponse>(result);
    this.exist = !String(product).startsWith('HeadlessChrome/');
  }
}
