import { EventEmitter, once } from 'node:events';
import type { Protocol } from 'devtools-protocol';
import { monotonicNow } from '../../common/clock.ts';
import { withoutFragment } from '../../common/url/parsed-url.ts';
import { type CdpMessage, fieldsOf } from '../message.ts';
import type { Session } from './session.ts';

/** A request as the browser announces it before sending it; each redirect is a new one. Pages cannot influence this. */
export interface NetworkRequest {
  /** For a worker's request, the worker's session, although the page's session pauses it. */
  readonly session: Session;
  /** As the browser reports it: without fragment. */
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, unknown>>;
  /** Address, without fragment, of the document or worker that makes it. */
  readonly documentUrl: string;
  /** The document that makes it; empty for a worker. */
  readonly loaderId: string;
  readonly frameId: string | undefined;
  readonly type: string;
  /** In seconds, by the browser's clock; `at` is by ours, in ms. */
  readonly timestamp: number;
  readonly at: number;
  readonly redirect: Redirect | null;
}

/** The redirect that caused a request; `from` is null if that request was sent before tracking began. */
interface Redirect {
  readonly from: NetworkRequest | null;
}

/** The requests in flight, by network ID, which redirects share. */
export class Requests {
  readonly #requests = new Map<string, NetworkRequest>();
  /** Emits {@link eventOf} each ID that is announced. */
  readonly #announced = new EventEmitter().setMaxListeners(0);

  /** How many are tracked. */
  get size(): number {
    // `once` listens for errors, too.
    const awaited = this.#announced.eventNames().filter((name) => name !== 'error');
    return this.#requests.size + awaited.length;
  }

  /** The newest request with an ID; undefined if it is not announced yet or already over. */
  get(networkId: string | undefined): NetworkRequest | undefined {
    return networkId === undefined ? undefined : this.#requests.get(networkId);
  }

  /**
   * The newest request with an ID (and this address, if given) as soon as it is announced. Null if it is not until the
   * wait is aborted.
   */
  async announced(networkId: string, url: string | undefined, signal: AbortSignal): Promise<NetworkRequest | null> {
    for (;;) {
      const request = atAddress(this.get(networkId), url);
      if (request || signal.aborted) return request;
      await once(this.#announced, eventOf(networkId), { signal }).catch(() => undefined);
    }
  }

  /** Takes a message of a session before the interceptors do. */
  before({ method, params }: CdpMessage, session: Session): void {
    if (method !== 'Network.requestWillBeSent') return;
    const fields = fieldsOf<Protocol.Network.RequestWillBeSentEvent>(params);
    const { requestId, frameId, redirectResponse } = fields;
    if (typeof requestId !== 'string') return;
    const { url, method: verb, headers } = fieldsOf<Protocol.Network.Request>(fields.request);
    const documentUrl = String(fields.documentURL);
    const before = this.get(requestId) ?? null;
    // A session that a test opens reports all of it again.
    if (before && before.session !== session) return;
    this.#requests.set(requestId, {
      session,
      url: String(url),
      method: String(verb),
      headers: fieldsOf(headers),
      // It is normalized, and may be a `data:` URL of any size.
      documentUrl: documentUrl.includes('#') ? withoutFragment(documentUrl) : documentUrl,
      loaderId: String(fields.loaderId ?? ''),
      frameId: typeof frameId === 'string' ? frameId : undefined,
      type: String(fields.type),
      timestamp: Number(fields.timestamp),
      at: monotonicNow(),
      redirect: redirectResponse === undefined ? null : { from: before },
    });
    this.#announced.emit(eventOf(requestId));
  }

  /** Takes the same message after the interceptors. */
  after({ method, params }: CdpMessage): void {
    if (method !== 'Network.loadingFinished' && method !== 'Network.loadingFailed') return;
    this.#requests.delete(String(fieldsOf<Protocol.Network.LoadingFinishedEvent>(params).requestId));
  }

  end(ended: Session): void {
    for (const [id, { session }] of this.#requests) if (session === ended) this.#requests.delete(id);
  }
}

/** IDs come from the browser: one that is `error` would make an emitter throw. */
function eventOf(networkId: string): string {
  return `announced ${networkId}`;
}

/** The request before all redirects, as far as it is known. */
export function firstOf(request: NetworkRequest): NetworkRequest {
  return request.redirect?.from ? firstOf(request.redirect.from) : request;
}

/** The last request to an address in a redirect chain. */
function atAddress(newest: NetworkRequest | undefined, url: string | undefined): NetworkRequest | null {
  let request = newest ?? null;
  while (request && url !== undefined && request.url !== url) request = request.redirect?.from ?? null;
  return request;
}
