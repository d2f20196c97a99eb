import { clearInterval, setInterval, setTimeout } from '../../../common/clock.ts';
import { deferred } from '../../../common/deferred.ts';
import { errorMessage } from '../../../common/error-message.ts';
import { within } from '../../../common/pause.ts';
import type { BrowserModel } from '../../model/browser-model.ts';
import type { BrowserCommands } from '../../transport/interceptor.ts';
import type { PausedRequest } from '../request/paused-request.ts';

/** How long a request waits for the root session to pause it after its page has closed, in ms: it takes a few ms. */
const HANDED_OVER_MS = 500;

/** A request that is being made. */
export class RequestUnderWay {
  /** As it is paused now: when the session that has paused it ends, the root session pauses it again. */
  paused: PausedRequest;
  readonly abort = new AbortController();
  /** Settles when that happens. */
  readonly #again = deferred<PausedRequest>();

  constructor(paused: PausedRequest) {
    this.paused = paused;
  }

  /** The root session has paused it, too. */
  handOver(paused: PausedRequest): void {
    this.paused = paused;
    this.#again.resolve(paused);
  }

  /** How the root session has paused it; null if it does not. */
  async handedOver(): Promise<PausedRequest | null> {
    return await within(this.#again.promise, HANDED_OVER_MS, null);
  }
}

/** The requests that are being made, by their network IDs. */
export class RequestsUnderWay {
  readonly #requests = new Map<string, RequestUnderWay>();

  constructor(model: BrowserModel) {
    model.onSessionEnd((ended) => {
      for (const request of this.#requests.values()) {
        if (request.paused.sessionId === ended.id) this.#abortUnlessHandedOver(request);
      }
    });
  }

  begin(paused: PausedRequest): RequestUnderWay {
    const request = new RequestUnderWay(paused);
    this.#requests.set(idOf(paused), request);
    return request;
  }

  end(request: RequestUnderWay): void {
    const id = idOf(request.paused);
    if (this.#requests.get(id) === request) this.#requests.delete(id);
  }

  /** What happens to it in the browser does not matter any more. */
  detach(paused: PausedRequest): void {
    this.#requests.delete(idOf(paused));
  }

  /** The browser has given it up. */
  abort(networkId: string): void {
    this.#requests.get(networkId)?.abort.abort();
  }

  abortAll(): void {
    for (const { abort } of this.#requests.values()) abort.abort();
  }

  /** Returns whether a request that the root session has paused is under way: its page closed after it was sent. */
  handOver(paused: PausedRequest): boolean {
    const request = this.#requests.get(String(paused.networkId));
    if (request?.paused.sessionId === undefined || request.paused.url !== paused.url) return false;
    request.handOver(paused);
    return true;
  }

  #abortUnlessHandedOver(request: RequestUnderWay): void {
    const { paused, abort } = request;
    setTimeout(() => request.paused === paused && abort.abort(), HANDED_OVER_MS).unref();
  }
}

function idOf({ networkId, requestId, sessionId }: PausedRequest): string {
  return networkId ?? `${sessionId} ${requestId}`;
}

/** Interval of the checks, in ms. */
const ASKED_MS = 1_000;

/**
 * Gives up a paused request when its page no longer waits for it: the browser does not report every request that ends
 * with its document. It still knows requests that outlive their document (beacons). The browser has no body for either,
 * but its error tells the two apart.
 * @param paused returns the request as it is paused now
 * @returns a function that stops the checks; call it before the browser gets the response
 */
export function whenAbandoned(commands: BrowserCommands, paused: () => PausedRequest, giveUp: () => void): () => void {
  const timer = setInterval(() => {
    const { sessionId, requestId } = paused();
    commands.call('Fetch.getResponseBody', { requestId }, sessionId).catch((error) => {
      if (errorMessage(error).includes('Invalid InterceptionId')) giveUp();
    });
  }, ASKED_MS);
  return () => clearInterval(timer);
}
