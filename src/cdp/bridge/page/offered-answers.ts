import { fromBase64 } from './base64.ts';
import type { Tell } from './begin.ts';

/** A request under way. */
export interface PageRequest {
  url: string;
  /** Of the offer that it has taken. */
  id: string | null;
  /** Of a source of events: called with an offer that is for it, and the origin of who answers. */
  onOffer?(id: string, origin: string): void;
}

/** A part of an answer's body. */
interface Piece {
  /** In base64. */
  data?: string;
  last?: boolean;
  failed?: boolean;
}

/** What the transport says. */
export type Said =
  | { op: 'offer'; id: string; url: string; isEvents: boolean; origin: string }
  | ({ op: 'piece'; id: string } & Piece);

/**
 * Answers that come in parts, or are too large for the browser to be handed. The transport offers one by its URL, has the
 * request answered without a body, and gives the body in pieces, each when it is asked for.
 */
export class OfferedAnswers {
  readonly #tell: Tell;
  /** Oldest first. */
  readonly #requests: PageRequest[] = [];
  readonly #takers = new Map<string, (piece: Piece) => void>();

  constructor(tell: Tell) {
    this.#tell = tell;
  }

  begin(url: string): PageRequest {
    const request: PageRequest = { url, id: null };
    this.#requests.push(request);
    return request;
  }

  /** Returns the offer that the request has taken. */
  end(request: PageRequest): string | null {
    const at = this.#requests.indexOf(request);
    if (at !== -1) this.#requests.splice(at, 1);
    return request.id;
  }

  /** The body is no longer wanted. */
  drop(id: string): void {
    this.#takers.get(id)?.({ failed: true });
    this.#tell({ op: 'drop', id });
  }

  /** The next answer from there cannot be taken in parts. */
  takeWhole(url: string): void {
    this.#tell({ op: 'block', url });
  }

  /** A source has read all of its stream; the transport hands the browser what it must know of it. */
  ended(id: string, known: object): void {
    const lines = Object.entries(known).map(([field, value]) => (value === undefined ? '' : `${field}: ${value}\n`));
    this.#tell({ op: 'ended', id, last: `${lines.join('')}\n` });
  }

  /** Returns whether an offer is taken. */
  take(said: Said): boolean | undefined {
    if (said.op === 'piece') {
      this.#takers.get(said.id)?.(said);
      return;
    }
    const { id, url, isEvents, origin } = said;
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
        this.#tell({ op: 'more', id });
      });
    return new ReadableStream(
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
      { highWaterMark: 0 },
    );
  }
}

/** As the transport names it. Null for what is no address, and for what cannot be read without the page noticing. */
export function urlOf(resource: unknown): string | null {
  const text = resource instanceof Request ? resource.url : resource instanceof URL ? resource.href : resource;
  if (typeof text !== 'string' || !URL.canParse(text, document.baseURI)) return null;
  const url = new URL(text, document.baseURI);
  url.hash = '';
  return url.href;
}
