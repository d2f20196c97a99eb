import type { Protocol } from 'devtools-protocol';
import { type CdpMessage, type Fields, fieldsOf } from '../transport/message.ts';
import { MeteredSessions } from './metered-sessions.ts';
import { cameOverNetwork, frameSize, handshakeSize, isRemote, type ResponseFields, size } from './network-event.ts';

/** One message of the browser, as far as the meter is concerned. */
export type CdpEvent = Pick<CdpMessage, 'sessionId' | 'method' | 'params'>;

/** A request under way. */
interface Request {
  /** Bytes of it that are counted so far. */
  counted: number;
  /** It is answered from a cache, a route or the browser itself, and moves nothing. */
  free: boolean;
  /** Of a document; null for everything else. */
  documentUrl: unknown;
  /** The session that last spoke of it. */
  sessionId: string;
}

/** Of the browser's `Network.*` events, what is looked at here. */
type NetworkFields = Fields<
  Protocol.Network.RequestWillBeSentEvent & Protocol.Network.ResponseReceivedEvent & Protocol.Network.DataReceivedEvent
>;

/** Of its events about downloads. */
type DownloadFields = Fields<Protocol.Browser.DownloadWillBeginEvent & Protocol.Browser.DownloadProgressEvent>;

/**
 * Counts the bytes that a browser moves, from the events that it sends to Playwright anyway: what its pages, frames,
 * workers and downloads received, headers included, and the frames of their WebSockets both ways (as they are before
 * compression). Counted as they come, so a request that is cut counts as far as it was reported.
 *
 * Zero are answers from a cache, from a service worker (its own requests count) and from `route.fulfill()`, and what
 * crosses a network bridge.
 * Not counted, because the browser does not report it: what requests send, TLS and TCP overhead, and whatever a page
 * moved before anyone watched it.
 *
 * To be fed with all messages of one browser, but for what a network bridge carries.
 */
export class Meter {
  #total = 0;
  readonly #sessions = new MeteredSessions();
  /** By request ID, which is unique in a browser: a worker's or frame's own request starts in its parent's session. */
  readonly #requests = new Map<string, Request>();
  /** Bytes of each download under way that are counted so far. */
  readonly #downloads = new Map<string, number>();
  /** Addresses of documents that moved nothing and were not shown, and who was told so: the next download of one is free. */
  readonly #freeDownloads = new Map<unknown, string>();

  /** Bytes so far. */
  total(): number {
    return this.#total;
  }

  /** Takes in one message; those that say nothing about bytes cost next to nothing. */
  observe(message: CdpEvent): void {
    const { method, params, sessionId = '' } = message;
    if (method === undefined) return;
    if (method.startsWith('Network.')) {
      if (this.#sessions.counts(sessionId)) this.#observeNetwork(sessionId, method, fieldsOf(params));
    } else if (method.startsWith('Target.')) {
      const ended = this.#sessions.observe(message);
      if (ended !== undefined) this.#forget(ended);
    } else if (sessionId === '' && method.startsWith('Browser.download')) {
      this.#observeDownload(method, fieldsOf(params));
    }
  }

  #observeNetwork(sessionId: string, method: string, fields: NetworkFields): void {
    const { requestId, response } = fields;
    if (typeof requestId !== 'string') return;
    switch (method) {
      case 'Network.requestWillBeSent':
        if (isObject(fields.redirectResponse)) this.#redirect(sessionId, requestId, fields.redirectResponse);
        break;
      case 'Network.requestServedFromCache':
        this.#requestOf(sessionId, requestId).free = true;
        break;
      case 'Network.responseReceived':
        if (isObject(response)) this.#respond(sessionId, requestId, response);
        if (fields.type === 'Document') {
          this.#requestOf(sessionId, requestId).documentUrl = fieldsOf<Protocol.Network.Response>(response).url;
        }
        break;
      case 'Network.dataReceived': {
        const request = this.#requestOf(sessionId, requestId);
        this.#countTo(request, request.counted + size(fields.encodedDataLength));
        break;
      }
      case 'Network.loadingFinished': {
        // The whole of it, head and body: exact, where the pieces were not.
        const request = this.#requests.get(requestId);
        if (request) this.#countTo(request, size(fields.encodedDataLength));
        this.#requests.delete(requestId);
        break;
      }
      case 'Network.loadingFailed':
        this.#fail(requestId);
        break;
      case 'Network.webSocketHandshakeResponseReceived':
        if (isObject(response)) this.#total += handshakeSize(response);
        break;
      case 'Network.webSocketFrameSent':
      case 'Network.webSocketFrameReceived':
        if (isObject(response)) this.#total += frameSize(response);
        break;
    }
  }

  /** A redirect ends one request; the next has the same ID. */
  #redirect(sessionId: string, requestId: string, response: ResponseFields): void {
    this.#respond(sessionId, requestId, response);
    this.#requests.delete(requestId);
  }

  #respond(sessionId: string, requestId: string, response: ResponseFields): void {
    const request = this.#requestOf(sessionId, requestId);
    if (!cameOverNetwork(response)) request.free = true;
    this.#countTo(request, Math.max(request.counted, size(response.encodedDataLength)));
  }

  #requestOf(sessionId: string, requestId: string): Request {
    const known = this.#requests.get(requestId);
    if (known) {
      known.sessionId = sessionId;
      return known;
    }
    const request: Request = { counted: 0, free: false, documentUrl: null, sessionId };
    this.#requests.set(requestId, request);
    return request;
  }

  #countTo(request: Request, bytes: number): void {
    if (request.free) return;
    this.#total += bytes - request.counted;
    request.counted = bytes;
  }

  /** A page is told that a document has failed, too, when it becomes a download. */
  #fail(requestId: string): void {
    const { free, documentUrl, sessionId = '' } = this.#requests.get(requestId) ?? {};
    this.#requests.delete(requestId);
    if (free && isRemote(documentUrl)) this.#freeDownloads.set(documentUrl, sessionId);
  }

  #observeDownload(method: string, { guid, url, receivedBytes, state }: DownloadFields): void {
    if (typeof guid !== 'string') return;
    if (method === 'Browser.downloadWillBegin') {
      if (isRemote(url) && !this.#freeDownloads.delete(url)) this.#downloads.set(guid, 0);
      return;
    }
    const counted = this.#downloads.get(guid);
    if (counted === undefined) return;
    const received = Math.max(counted, size(receivedBytes));
    this.#total += received - counted;
    if (state === 'inProgress') this.#downloads.set(guid, received);
    else this.#downloads.delete(guid);
  }

  /** What a closed page had under way will not be heard of again. */
  #forget(sessionId: string): void {
    for (const [requestId, request] of this.#requests) {
      if (request.sessionId === sessionId) this.#requests.delete(requestId);
    }
    for (const [url, toldBy] of this.#freeDownloads) if (toldBy === sessionId) this.#freeDownloads.delete(url);
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
