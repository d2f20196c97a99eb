import type { Dispatcher } from 'undici';
import { monotonicNow } from '../../../common/clock.ts';
import type { Dial } from '../../../common/dial/dial.ts';
import { pause } from '../../../common/pause.ts';
import { type HeaderList, headerOf } from '../headers/header-list.ts';
import { Connections, type Server } from './connections.ts';
import { ACCEPTED, decodingOf } from './content-encoding.ts';
import { type ContextProxy, originOf } from './context-proxy/context-proxy.ts';
import { dialThrough } from './context-proxy/tunnel.ts';
import { type Failure, failureOf, unreachedProxy } from './failures.ts';
import { takeExchange } from './http1/response-socket.ts';
import type { EmulatedLink } from './network-conditions.ts';
import type { ProxiedTraffic } from './proxied-traffic.ts';
import { ResponseBody } from './response-body.ts';

/** A page's request that is made from this machine. */
export interface ProxyRequest {
  url: string;
  method: string;
  /** In wire text. */
  headers: Record<string, string>;
  body: Buffer | null;
  /** ID of the page's browser context. Default: the browser's own. */
  context?: string | undefined;
  /** The page's context ignores certificate errors. */
  ignoreHTTPSErrors: boolean;
  proxy?: ContextProxy | undefined;
  /** The emulated connection. Default: the real one. */
  link?: EmulatedLink | undefined;
  /** Whether the browser downloads the response: never, if its headers ask for that, or always. */
  download: 'never' | 'may-be' | 'is';
  signal: AbortSignal;
}

/** The result: a response with any status, or the reason why there is none. */
export type Outcome = ProxyResponse | Failure;

/** What the browser gets. */
export interface WholeResponse {
  status: number;
  phrase: string;
  /** In wire text, with names as the server wrote them. */
  headers: HeaderList;
  body: Buffer;
}

export interface ProxyResponse extends WholeResponse {
  /** All headers that the server sent. */
  received: HeaderList;
  /** The part after `body`, if that is incomplete: for a body larger than {@link MAX_BODY_BYTES}, or a stream. */
  rest: ResponseBody | null;
  /** The browser downloads it instead of showing it. */
  isDownload: boolean;
  /** Its network data. */
  exchange: {
    server: Server | undefined;
    /** Time from the request to the response's head, in ms. */
    waited: number;
    /** The head as the server sent it, in wire text. */
    head: string;
    /** Bytes of the response that crossed the network so far. */
    bytes(): number;
  };
}

/**
 * Largest body that the browser gets in one message, in bytes. It crosses the connection in base64, and Chromium closes
 * the connection on a message of more than 100 MB.
 */
export const MAX_BODY_BYTES = 70 * 1024 * 1024;
/** Downloads up to this size go to the browser, in bytes. */
const DOWNLOAD_BYTES = 256 * 1024;
/** Time limit for a response's head, and for each next piece of its body, in ms: the same as Chromium's. */
const RESPONSE_MS = 300_000;
/** A body that takes longer than this, in ms, counts as a stream. */
const STREAM_MS = 50;

/** Headers of a single connection, which the sender sets itself. */
const OF_CONNECTION =
  /^(:.*|host|connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|content-length|expect|accept-encoding)$/i;

/** Where a request is sent: to its server, or to a proxy. */
interface Route {
  connections: Connections;
  origin: string;
  path: string;
  headers: Record<string, string>;
  ignoreHTTPSErrors: boolean;
}

/**
 * Makes pages' requests from this machine. It does not follow redirects: the page does, and the browser pauses each one
 * again.
 */
export class ProxyFetcher {
  /** By browser context. */
  readonly #connections = new Map<string | undefined, Connections>();
  readonly #traffic: ProxiedTraffic | undefined;
  readonly #dial: Dial | undefined;

  /** @param dial default: connections start on this machine */
  constructor(traffic?: ProxiedTraffic, dial?: Dial) {
    this.#traffic = traffic;
    this.#dial = dial;
  }

  /** Never rejects. */
  async fetch(request: ProxyRequest): Promise<Outcome> {
    const route = this.#route(request);
    try {
      return await this.#fetch(request, route);
    } catch (error) {
      const failure = failureOf(error);
      const netError = route.origin === new URL(request.url).origin ? null : unreachedProxy(error);
      return netError ? { ...failure, failure: 'Failed', netError } : failure;
    }
  }

  /** A browser context closes. What its pages still send at their end is not aborted; idle connections end soon. */
  leaveContext(context: string): void {
    this.#connections.delete(context);
  }

  /** Aborts all requests. */
  close(): void {
    for (const connections of this.#connections.values()) connections.close();
  }

  async #send(
    connections: Connections,
    ignoreHTTPSErrors: boolean,
    options: Dispatcher.RequestOptions & { origin: string },
  ): Promise<Dispatcher.ResponseData> {
    for (;;) {
      try {
        return await connections.pool(options.origin, ignoreHTTPSErrors).request(options);
      } catch (error) {
        if (!connections.wasStale(error)) throw error;
      }
    }
  }

  /** Where a request is sent, and on which connections. */
  #route({ url, context, ignoreHTTPSErrors, proxy }: ProxyRequest): Route {
    const { origin, pathname, search, protocol, host } = new URL(url);
    const path = `${pathname}${search}`;
    const connections = this.#connections.get(context) ?? new Connections(RESPONSE_MS, this.#traffic, this.#dial);
    this.#connections.set(context, connections);
    const direct = { connections, origin, path, headers: {}, ignoreHTTPSErrors };
    if (!proxy?.serves(url)) return direct;
    const { server, authorization } = proxy;
    if (protocol === 'https:' || server.scheme.startsWith('socks')) {
      proxy.connections ??= new Connections(RESPONSE_MS, this.#traffic, dialThrough(proxy, this.#dial));
      return { ...direct, connections: proxy.connections };
    }
    // An HTTP proxy makes such a request itself.
    const headers = { host, ...(authorization !== undefined && { 'proxy-authorization': authorization }) };
    return { ...direct, origin: originOf(server), path: `${origin}${path}`, headers, ignoreHTTPSErrors: false };
  }

  async #fetch(request: ProxyRequest, route: Route): Promise<Outcome> {
    const { method, headers, body, download, signal, link } = request;
    const { connections, origin, path, ignoreHTTPSErrors } = route;
    const sent = Object.fromEntries(Object.entries(headers).filter(([name]) => !OF_CONNECTION.test(name)));
    const asked = monotonicNow();
    await link?.sent(body?.length ?? 0, signal);
    const response = await this.#send(connections, ignoreHTTPSErrors, {
      origin,
      path,
      method: method as Dispatcher.HttpMethod,
      headers: { ...sent, ...route.headers, 'accept-encoding': ACCEPTED },
      body,
      signal,
      responseHeaders: 'raw',
    });
    const missing = (link?.latency ?? 0) - (monotonicNow() - asked);
    if (missing > 0) await pause(missing, signal);
    const waited = monotonicNow() - asked;
    const { head, bytes } = exchangeOf(response);
    const { status, phrase, headers: received } = head;
    const header = (wanted: string) => headerOf(received, wanted);
    const bodiless = method === 'HEAD' || status === 204 || status === 304;
    const encodings = received.filter(({ name }) => /^content-encoding$/i.test(name)).map(({ value }) => value);
    // Chromium does not decode a body that it gets over CDP, whatever its headers, so this code must.
    const decoding = bodiless ? null : decodingOf(encodings.join());
    const source = new ResponseBody(response.body, decoding, (bytes) => link?.received(bytes, signal));
    // A body that is known to be large is not buffered.
    const known = decoding || bodiless ? 0 : Number(header('content-length') ?? 0);
    const patience = bodiless ? RESPONSE_MS : STREAM_MS;
    const isDownload = status === 200 && (download === 'is' || (download === 'may-be' && isDownloaded(header)));
    const most = isDownload ? DOWNLOAD_BYTES : MAX_BODY_BYTES;
    const { begun, ended } =
      known > most ? { begun: Buffer.alloc(0), ended: false } : await source.readWithin(most + 1, patience);
    return {
      status,
      phrase,
      headers: received,
      received,
      body: begun,
      rest: ended ? null : source,
      isDownload,
      exchange: {
        server: connections.serverOf(origin),
        waited,
        head: head.text,
        bytes: () => head.text.length + (bytes?.() ?? source.encodedBytes),
      },
    };
  }
}

/**
 * Whether a browser that navigates there downloads the response: its headers ask for it, or the browser cannot show its
 * type.
 */
function isDownloaded(header: (name: string) => string | undefined): boolean {
  const type = (header('content-type') ?? '').toLowerCase();
  if (/^\s*attachment\b/i.test(header('content-disposition') ?? '')) return true;
  return /^application\/(octet-stream|zip|gzip|x-(zip|gzip|tar|bzip2?|7z|rar)\S*|vnd\.(ms|openxml)\S+)/.test(type);
}

/** What a response was on its connection. */
function exchangeOf({ statusCode: status, headers: raw }: Dispatcher.ResponseData) {
  // Alternating names and values, as undici gives them for `responseHeaders: 'raw'`.
  const flat = raw as unknown as string[];
  const exchange = takeExchange(flat);
  if (exchange) return { head: exchange.head, bytes: () => exchange.bytes };
  // HTTP/2, which has no such lines.
  const headers = flat.flatMap((name, at) => (at % 2 === 0 ? [{ name, value: flat[at + 1] ?? '' }] : []));
  const lines = headers.map(({ name, value }) => `${name}: ${value}\r\n`);
  return { head: { status, phrase: '', headers, text: `HTTP/1.1 ${status}\r\n${lines.join('')}\r\n` } };
}

/** A response of which the browser gets only the head, or the body so far. */
export function cutShort(response: Omit<ProxyResponse, 'body' | 'rest'>, body: Buffer): ProxyResponse {
  const headers = response.headers.filter(({ name }) => !/^content-length$/i.test(name));
  return { ...response, headers, body, rest: null };
}

/** The `Location` of a redirect; null for any other response. */
export function redirectOf({ status, received }: ProxyResponse): string | null {
  return /^30[12378]$/.test(String(status)) ? (headerOf(received, 'location') ?? null) : null;
}

export function isEventStream({ status, received }: ProxyResponse): boolean {
  return status === 200 && /^\s*text\/event-stream\s*(;|$)/i.test(headerOf(received, 'content-type') ?? '');
}

/** The whole of a body that no script takes in parts; null if it is too large for the browser. */
export async function wholeOf({ body, headers, rest }: ProxyResponse): Promise<Buffer | null> {
  if (!rest) return body;
  if (Math.max(Number(headerOf(headers, 'content-length') ?? 0), body.length) > MAX_BODY_BYTES) return null;
  const whole = Buffer.concat([body, await rest.read(MAX_BODY_BYTES + 1 - body.length)]);
  return whole.length > MAX_BODY_BYTES ? null : whole;
}
