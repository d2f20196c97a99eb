import { createdBy, type PlaywrightMessage, readMessage, referenceIn } from './playwright-message.ts';

/** What an interceptor of Playwright's protocol does with a message. */
export interface MessageOutput {
  toServer(text: string): void;
  toClient(text: string): void;
}

/** An open context. */
interface OpenContext {
  pages: Set<string>;
  /** The object of `context.request`. */
  requests: string | null;
}

/**
 * Options of a context that records files: they are written when it closes, and a test may expect them after
 * `close()`.
 */
export const RECORDINGS = /"record(Video|Har)"/;

/**
 * Closes contexts without waiting for the relay. The client gets the response, and the events that precede it, at once;
 * the server's own are dropped. Later events of such a context do not reach the client.
 */
export class EarlyClose {
  readonly #output: MessageOutput;
  readonly #contexts = new Map<string, OpenContext>();
  /** Calls whose response the client already has. */
  readonly #settled = new Set<string | number>();
  /** Objects that are closed for the client. */
  readonly #closed = new Set<string>();
  /** Contexts may record files from now on: every close waits. */
  #records = false;

  constructor(output: MessageOutput) {
    this.#output = output;
  }

  fromClient(text: string): void {
    const message = readMessage(text);
    this.#output.toServer(text);
    if (!message) return;
    if (message.method === 'newContext' && RECORDINGS.test(text)) this.#records = true;
    this.#close(message);
  }

  fromServer(text: string): void {
    const message = readMessage(text);
    if (message === null || !this.#isDropped(message)) this.#output.toClient(text);
    if (message) this.#follow(message);
  }

  #isDropped({ id, guid, method = '' }: PlaywrightMessage): boolean {
    if (id !== undefined) return this.#settled.delete(id);
    return guid !== undefined && this.#closed.has(guid) && !method.startsWith('__');
  }

  #follow(message: PlaywrightMessage): void {
    const { guid = '', method } = message;
    if (method === '__dispose__') {
      this.#contexts.delete(guid);
      this.#closed.delete(guid);
      for (const { pages } of this.#contexts.values()) pages.delete(guid);
    }
    const object = createdBy(message);
    if (object?.type === 'Page') this.#contexts.get(guid)?.pages.add(object.guid);
    if (object?.type !== 'BrowserContext') return;
    const requests = referenceIn(object.initializer.requestContext);
    this.#contexts.set(object.guid, { pages: new Set(), requests });
  }

  #close({ id, guid = '', method }: PlaywrightMessage): void {
    if (id === undefined || this.#records) return;
    const isOfContext = [...this.#contexts.values()].some(({ requests }) => requests === guid);
    if (method === 'dispose' && isOfContext) this.#settle(id);
    const context = this.#contexts.get(guid);
    if (method !== 'close' || !context || this.#closed.has(guid)) return;
    for (const object of [...context.pages, guid]) {
      this.#output.toClient(JSON.stringify({ guid: object, method: 'close', params: {} }));
      this.#closed.add(object);
    }
    this.#settle(id);
  }

  #settle(id: string | number): void {
    this.#settled.add(id);
    this.#output.toClient(JSON.stringify({ id }));
  }
}
