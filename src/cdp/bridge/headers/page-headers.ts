import type { Protocol } from 'devtools-protocol';
import type { BrowserModel } from '../../model/browser-model.ts';
import { SessionMap } from '../../model/per-session.ts';
import { type CdpMessage, fieldsOf } from '../../transport/message.ts';

/** What the browser has said of a request before it goes out; of one that was redirected, of where it leads now. */
export interface Announced {
  /** Of a worker's request the worker's, while it is stopped with its page's. */
  sessionId: string | undefined;
  loaderId: string;
  frameId: string | undefined;
  type: string;
  /** In seconds, by the browser's own clock; `at`: by ours, in ms. */
  timestamp: number;
  at: number;
  /** What was asked for before any redirect. */
  asked: { url: string; method: string; type: string };
  /** Values that have one byte for each character and are not all ASCII, by header in lower case. */
  values: ReadonlyMap<string, string>;
}

/** What is known of a request where it is stopped. */
interface Stopped {
  networkId: string | undefined;
  resourceType: string;
  headers: Record<string, string>;
}

/** Bound on waiting for an announcement, in ms: it comes within a few. */
const ANNOUNCED_MS = 1_000;
/** Headers that the browser makes, in ASCII. */
const BROWSERS_OWN =
  /^(accept|accept-(encoding|language)|cache-control|content-(length|type)|cookie|host|if-.*|origin|pragma|purpose|range|referer|sec-.*|upgrade-insecure-requests|user-agent)$/i;

/**
 * Header values of requests whose bytes are no UTF-8, as scripts may give them to `fetch()`. Where the browser stops a
 * request it leaves such bytes out, and some of those behind them; where it announces the request it has them all.
 */
export class PageHeaders {
  readonly #announced: SessionMap<unknown, Announced>;
  readonly #waiting = new Map<unknown, () => void>();

  constructor(model: BrowserModel) {
    this.#announced = new SessionMap(model);
  }

  /** To be told of the browser's `Network.*` events. */
  observe({ method, params, sessionId }: CdpMessage): void {
    const { requestId, request } = fieldsOf<Protocol.Network.RequestWillBeSentEvent>(params);
    if (method === 'Network.loadingFinished' || method === 'Network.loadingFailed') this.#announced.delete(requestId);
    if (method !== 'Network.requestWillBeSent') return;
    // A redirect has the ID of the request before it.
    const { headers } = fieldsOf<Protocol.Network.Request>(request);
    const { loaderId, frameId, type, timestamp, redirectResponse } =
      fieldsOf<Protocol.Network.RequestWillBeSentEvent>(params);
    const { url, method: verb } = fieldsOf<Protocol.Network.Request>(request);
    const before = redirectResponse === undefined ? undefined : this.#announced.get(requestId);
    const announced: Announced = {
      sessionId,
      loaderId: String(loaderId ?? ''),
      frameId: typeof frameId === 'string' ? frameId : undefined,
      type: String(type),
      timestamp: Number(timestamp),
      at: performance.now(),
      asked: before?.asked ?? { url: String(url), method: String(verb), type: String(type) },
      values: latin1Values(headers),
    };
    this.#announced.set(requestId, announced, sessionId);
    this.#waiting.get(requestId)?.();
  }

  /**
   * Waits until a stopped request is announced, where that matters: the two events come in any order.
   * @param hasOwnHeaders its headers are the page's, which may have such values
   */
  async settled({ networkId: requestId, resourceType, headers }: Stopped, hasOwnHeaders: boolean): Promise<void> {
    if (requestId === undefined || this.#announced.get(requestId)) return;
    const mayHaveValues = hasOwnHeaders && !Object.keys(headers).every((name) => BROWSERS_OWN.test(name));
    // An `EventSource` is called a fetch where it is stopped.
    if (!mayHaveValues && !/^(XHR|Fetch|EventSource)$/.test(resourceType)) return;
    await new Promise<void>((resolve) => {
      const settle = () => {
        clearTimeout(timer);
        this.#waiting.delete(requestId);
        resolve();
      };
      const timer = setTimeout(settle, ANNOUNCED_MS);
      this.#waiting.set(requestId, settle);
    });
  }

  /**
   * Wire text of a value that the stopped request does not have right; null where it has.
   * @param stopped the value as the stopped request has it
   */
  wireText(requestId: unknown, name: string, stopped: string): string | null {
    const announced = this.#announced.get(requestId)?.values.get(name.toLowerCase());
    // The same both times: then the browser itself has made UTF-8 of it.
    return announced === undefined || announced === stopped ? null : announced;
  }

  /** Undefined for a request that was not announced, or is over. */
  announcementOf(requestId: unknown): Announced | undefined {
    return this.#announced.get(requestId);
  }
}

function latin1Values(headers: unknown): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  for (const [name, value] of Object.entries(headers ?? {})) {
    if (typeof value === 'string' && /[\x80-\xff]/.test(value) && !/[^\0-\xff]/.test(value)) {
      values.set(name.toLowerCase(), value);
    }
  }
  return values;
}
