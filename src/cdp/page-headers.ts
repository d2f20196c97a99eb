import type { CdpMessage } from './message.ts';

interface RequestFields {
  requestId?: unknown;
  request?: { headers?: Record<string, unknown> };
}

/** One byte for each character, and not all of them ASCII. */
const LATIN_1 = /^(?=.*[\x80-\xff])[\0-\xff]*$/s;

/**
 * Header values of requests whose bytes are no UTF-8, as scripts may give them to `fetch()`. Where the browser stops a
 * request it leaves such bytes out, and some of those behind them; where it announces the request it has them all.
 */
export class PageHeaders {
  readonly #given = new Map<unknown, { sessionId: string | undefined; values: Map<string, string> }>();

  /** To be told of the browser's `Network.*` events. */
  observe({ method, params = {}, sessionId }: CdpMessage): void {
    const { requestId, request }: RequestFields = params;
    if (method === 'Network.loadingFinished' || method === 'Network.loadingFailed') this.#given.delete(requestId);
    if (method !== 'Network.requestWillBeSent' || typeof request?.headers !== 'object') return;
    const values = new Map<string, string>();
    for (const [name, value] of Object.entries(request.headers)) {
      if (typeof value === 'string' && LATIN_1.test(value)) values.set(name.toLowerCase(), value);
    }
    // A redirect has the ID of the request before it.
    if (values.size > 0) this.#given.set(requestId, { sessionId, values });
    else this.#given.delete(requestId);
  }

  /**
   * Wire text of a value that the stopped request does not have right; null where it has.
   * @param stopped the value as the stopped request has it
   */
  wireText(requestId: unknown, name: string, stopped: string): string | null {
    const announced = this.#given.get(requestId)?.values.get(name.toLowerCase());
    // The same both times: then the browser itself has made UTF-8 of it.
    return announced === undefined || announced === stopped ? null : announced;
  }

  /** A page is gone. */
  forget(gone: unknown): void {
    for (const [requestId, { sessionId }] of this.#given) if (sessionId === gone) this.#given.delete(requestId);
  }
}
