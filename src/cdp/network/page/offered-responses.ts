import { fromBase64 } from './base64.ts';

/** Sends the transport a message that JSON can represent. */
export type Notify = (message: object) => void;

/**
 * How much of a body is read on while the page does not read it, in bytes: as in Chromium, where an unread body of
 * 57 MB finishes and one of 58 MB does not. Beyond, the server has to wait.
 */
const UNREAD_BYTES = 55 * 1024 * 1024;

/** A request in flight. */
export interface PageRequest {
  url: string;
  /** ID of the offer that it has accepted. */
  id: string | null;
  /** For an event source: called with an offer for it and the server's origin. */
  onOffer?(id: string, origin: string): void;
}

/** A part of a response's body. */
interface Piece {
  /** In base64. */
  data?: string;
  last?: boolean;
  failed?: boolean;
}

/** A message from the transport about a response. */
export type OfferMessage =
  | { op: 'offer'; id: string; url: string; isEvents: boolean; origin: string }
  | ({ op: 'piece'; id: string } & Piece);

/**
 * Responses that are streams, or too large for the browser. The transport offers one by its URL, responds to the
 * request without a body, and sends the body in pieces, each on demand.
 */
export class OfferedResponses {
  readonly #notify: Notify;
  /** Oldest first. */
  readonly #requests: PageRequest[] = [];
  readonly #takers = new Map<string, (piece: Piece) => void>();

  constructor(notify: Notify) {
    this.#notify = notify;
  }

  begin(url: string): PageRequest {
    const request: PageRequest = { url, id: null };
    this.#requests.push(request);
    return request;
  }

  /** Returns the offer that the request has accepted. */
  end(request: PageRequest): string | null {
    const at = this.#requests.indexOf(request);
    if (at !== -1) this.#requests.splice(at, 1);
    return request.id;
  }

  /** The body is no longer needed. */
  drop(id: string): void {
    this.#takers.get(id)?.({ failed: true });
    this.#notify({ op: 'drop', id });
  }

  /** The next response from this URL cannot be taken in parts. */
  takeWhole(url: string): void {
    this.#notify({ op: 'block', url });
  }

  /** A source has read all of its stream; the transport passes on to the browser what it needs to know about it. */
  ended(id: string, known: object): void {
    const lines = Object.entries(known).map(([field, value]) => (value === undefined ? '' : `${field}: ${value}\n`));
    this.#notify({ op: 'ended', id, last: `${lines.join('')}\n` });
  }

  /** Returns whether an offer is accepted. */
  take(message: OfferMessage): boolean | undefined {
    if (message.op === 'piece') {
      this.#takers.get(message.id)?.(message);
      return;
    }
    const { id, url, isEvents, origin } = message;
    const isMeant = (one: PageRequest) => one.url === url && one.id === null && !!one.onOffer === isEvents;
    const request = this.#requests.find(isMeant);
    if (request) request.id = id;
    request?.onOffer?.(id, origin);
    return request !== undefined;
  }

  body(id: string, signal?: AbortSignal | null): ReadableStream<Uint8Array<ArrayBuffer>> {
    const next = () =>
      new Promise<Piece>((resolve) => {
        this.#takers.set(id, resolve);
        this.#notify({ op: 'more', id });
      });
    return new ReadableStream<Uint8Array<ArrayBuffer>>(
      {
        start: (controller) => {
          const abort = () => {
            controller.error(signal?.reason);
            this.drop(id);
          };
          if (signal?.aborted) abort();
          else signal?.addEventListener('abort', abort);
        },
        pull: async (controller) => {
          const { data, last, failed } = await next();
          this.#takers.delete(id);
          if (signal?.aborted) return;
          if (failed) return controller.error(new TypeError('network error'));
          if (data) controller.enqueue(fromBase64(data));
          if (last) controller.close();
        },
        cancel: () => this.drop(id),
      },
      new ByteLengthQueuingStrategy({ highWaterMark: UNREAD_BYTES }),
    );
  }
}

/**
 * The address as the transport writes it. Null if it is not an address, or if reading it would be visible to the page.
 */
export function urlOf(resource: unknown): string | null {
  const text = resource instanceof Request ? resource.url : resource instanceof URL ? resource.href : resource;
  if (typeof text !== 'string' || !URL.canParse(text, document.baseURI)) return null;
  const url = new URL(text, document.baseURI);
  url.hash = '';
  return url.href;
}
