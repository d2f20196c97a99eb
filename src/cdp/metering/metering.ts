import type { Protocol } from 'devtools-protocol';
import type { Meter } from '../figures.ts';
import { type CdpMessage, type Fields, fieldsOf } from '../message.ts';
import type { BrowserModel } from '../model/browser-model.ts';
import { SessionMap } from '../model/per-session.ts';
import type { Surroundings } from '../optional.ts';
import type { Interceptor, InterceptorFactory, InterceptorTransport } from '../transport/interceptor.ts';

/** A response's head. Every value is checked where it is used: an event with an unexpected shape counts as zero. */
type ResponseFields = Fields<Protocol.Network.Response>;

/** The opcode of text frames (RFC 6455). */
const TEXT = 1;

/** A request in flight. */
interface Request {
  /** Bytes counted for it so far. */
  counted: number;
  /** A cache, a route or the browser itself serves it: no bytes cross the network. */
  free: boolean;
  /** The address of a document; null for everything else. */
  documentUrl: unknown;
}

/** The fields of the browser's `Network.*` events that are used here. */
type NetworkFields = Fields<
  Protocol.Network.RequestWillBeSentEvent & Protocol.Network.ResponseReceivedEvent & Protocol.Network.DataReceivedEvent
>;

/** A WebSocket's handshake and frames. */
type WebSocketFields = Protocol.Network.WebSocketResponse & Protocol.Network.WebSocketFrame;

/** The same for its download events. */
type DownloadFields = Fields<Protocol.Browser.DownloadWillBeginEvent & Protocol.Browser.DownloadProgressEvent>;

/** Bytes count when they arrive. */
export function onArrival({ meter, isProxied }: Surroundings): InterceptorFactory[] {
  return meter ? [(transport) => new Metering(transport, meter, isProxied)] : [];
}

/**
 * Counts the bytes that a browser transfers, from the events that it sends to Playwright anyway: what its pages,
 * frames, workers and downloads receive, including headers, and WebSocket frames in both directions (their size before
 * compression). Bytes count as they arrive, so an aborted request counts as far as the browser reports it.
 *
 * Responses from a cache, a service worker (its own requests count) or `route.fulfill()`, and requests made through
 * `exposeNetwork`, count as zero.
 * Not counted, because the browser does not report it: request bodies and headers, TLS and TCP overhead, and what a
 * page transfers before anything listens.
 */
export class Metering implements Interceptor {
  readonly #model: BrowserModel;
  readonly #meter: Meter;
  readonly #isProxied: (url: string) => boolean;
  /**
   * By request ID, which is unique in a browser: a request made by a worker or frame starts in its parent's session.
   * Each entry belongs to the session that last reported it.
   */
  readonly #requests: SessionMap<string, Request>;
  /** Bytes counted for each download in progress. */
  readonly #downloads = new Map<string, number>();
  /** Addresses of documents that transferred nothing and were not shown: the next download from there is free. */
  readonly #freeDownloads: SessionMap<unknown, true>;

  /** @param isProxied whether requests to an address are made outside the browser */
  constructor({ model }: InterceptorTransport, meter: Meter, isProxied: (url: string) => boolean) {
    this.#model = model;
    this.#meter = meter;
    this.#isProxied = isProxied;
    this.#requests = new SessionMap(model);
    this.#freeDownloads = new SessionMap(model);
  }

  /** Messages without byte counts cost almost nothing. */
  onMessage(message: CdpMessage): CdpMessage {
    const { method, params, sessionId } = message;
    if (sessionId === undefined && method?.startsWith('Browser.download')) {
      this.#observeDownload(method, fieldsOf(params));
    } else if (sessionId !== undefined && method?.startsWith('Network.') && this.#counts(sessionId)) {
      this.#observeNetwork(sessionId, method, fieldsOf(params));
    }
    return message;
  }

  /**
   * Every session on a target reports the same events (a test may open one with `newCDPSession`): only the oldest
   * session counts.
   */
  #counts(sessionId: string): boolean {
    const session = this.#model.session(sessionId);
    const [oldest] = session?.target.sessions ?? [];
    return session === oldest;
  }

  #observeNetwork(sessionId: string, method: string, fields: NetworkFields): void {
    const { requestId } = fields;
    const response = fieldsOf<Protocol.Network.Response & WebSocketFields>(fields.response);
    if (typeof requestId !== 'string') return;
    switch (method) {
      case 'Network.requestWillBeSent':
        // A redirect ends one request; the next one has the same ID.
        if (fields.redirectResponse === undefined) break;
        this.#respond(sessionId, requestId, fieldsOf(fields.redirectResponse));
        this.#requests.delete(requestId);
        break;
      case 'Network.requestServedFromCache':
        this.#requestOf(sessionId, requestId).free = true;
        break;
      case 'Network.responseReceived':
        this.#respond(sessionId, requestId, response);
        if (fields.type === 'Document') this.#requestOf(sessionId, requestId).documentUrl = response.url;
        break;
      case 'Network.dataReceived': {
        const request = this.#requestOf(sessionId, requestId);
        this.#countTo(request, request.counted + size(fields.encodedDataLength));
        break;
      }
      case 'Network.loadingFinished': {
        // The exact total of head and body; the parts were not exact.
        const request = this.#requests.get(requestId);
        if (request) this.#countTo(request, size(fields.encodedDataLength));
        this.#requests.delete(requestId);
        break;
      }
      case 'Network.loadingFailed':
        this.#fail(sessionId, requestId);
        break;
      case 'Network.webSocketHandshakeResponseReceived':
        this.#meter.count(handshakeSize(response));
        break;
      case 'Network.webSocketFrameSent':
      case 'Network.webSocketFrameReceived':
        this.#meter.count(frameSize(response));
        break;
    }
  }

  #respond(sessionId: string, requestId: string, response: ResponseFields): void {
    const request = this.#requestOf(sessionId, requestId);
    if (!cameOverNetwork(response)) request.free = true;
    this.#countTo(request, Math.max(request.counted, size(response.encodedDataLength)));
  }

  #requestOf(sessionId: string, requestId: string): Request {
    const request: Request = this.#requests.get(requestId) ?? { counted: 0, free: false, documentUrl: null };
    this.#requests.set(requestId, request, sessionId);
    return request;
  }

  #countTo(request: Request, bytes: number): void {
    if (request.free) return;
    this.#meter.count(bytes - request.counted);
    request.counted = bytes;
  }

  /** The browser also reports a document as failed when it becomes a download. */
  #fail(sessionId: string, requestId: string): void {
    const { free, documentUrl } = this.#requests.get(requestId) ?? {};
    this.#requests.delete(requestId);
    if (free && isRemote(documentUrl)) this.#freeDownloads.set(documentUrl, true, sessionId);
  }

  #observeDownload(method: string, { guid, url, receivedBytes, state }: DownloadFields): void {
    if (typeof guid !== 'string') return;
    if (method === 'Browser.downloadWillBegin') {
      if (!isRemote(url) || this.#isProxied(String(url))) return;
      if (!this.#freeDownloads.delete(url)) this.#downloads.set(guid, 0);
      return;
    }
    const counted = this.#downloads.get(guid);
    if (counted === undefined) return;
    const received = Math.max(counted, size(receivedBytes));
    this.#meter.count(received - counted);
    if (state === 'inProgress') this.#downloads.set(guid, received);
    else this.#downloads.delete(guid);
  }
}

/** A number of bytes; the browser reports -1 for "unknown". */
function size(value: unknown): number {
  return typeof value === 'number' && value > 0 ? value : 0;
}

/** Whether a response came over the browser's network: not from a cache, the browser itself or a route. */
function cameOverNetwork(response: ResponseFields): boolean {
  if (response.fromDiskCache === true || response.fromServiceWorker === true || response.fromPrefetchCache === true) {
    return false;
  }
  // `chrome:` and other built-in addresses report sizes too.
  if (!isRemote(response.url)) return false;
  // Responses from `route.fulfill()` have no connection.
  return (
    response.connectionId !== 0 || (typeof response.remoteIPAddress === 'string' && response.remoteIPAddress !== '')
  );
}

/** Whether an address is reached over the network. */
function isRemote(url: unknown): boolean {
  return typeof url === 'string' && (url.startsWith('http:') || url.startsWith('https:'));
}

function handshakeSize(response: Fields<Protocol.Network.WebSocketResponse>): number {
  return typeof response.headersText === 'string' ? response.headersText.length : 0;
}

/** Bytes of a WebSocket frame: frame header and uncompressed payload. */
function frameSize({ opcode, mask, payloadData }: Fields<Protocol.Network.WebSocketFrame>): number {
  if (typeof payloadData !== 'string') return 0;
  // Everything except text is reported in base64.
  const payload = Buffer.byteLength(payloadData, opcode === TEXT ? 'utf8' : 'base64');
  const lengthField = payload < 126 ? 0 : payload < 65_536 ? 2 : 8;
  return 2 + lengthField + (mask === true ? 4 : 0) + payload;
}
