import {
  type BrotliDecompress,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  type Gunzip,
  type Inflate,
} from 'node:zlib';
import type { Protocol } from 'devtools-protocol';
import { type Dispatcher, request as send } from 'undici';
import { netErrorOf } from '../headers/net-error-names.ts';
import { AnswerBody } from './answer-body.ts';
import { BridgeConnections, type BridgeServer } from './bridge-connections.ts';

/** A request of a page, to be made from this machine. */
export interface BridgeRequest {
  url: string;
  method: string;
  /** In wire text. */
  headers: Record<string, string>;
  body: Buffer | null;
  /** The page's context takes any certificate. */
  ignoreHTTPSErrors: boolean;
  /** What the browser will make of it may be a download: never, where its answer says so, or whatever that says. */
  download: 'never' | 'may-be' | 'is';
  signal: AbortSignal;
}

/** What came of it: an answer, whatever its status, or why there is none, in words of CDP's `Network.ErrorReason`. */
export type BridgeOutcome = BridgeAnswer | BridgeFailure;

export interface BridgeFailure {
  failure: Protocol.Network.ErrorReason;
  detail: string;
  /** Chromium's own name of it, where that is another one. */
  netError?: string | undefined;
}

/** What the browser is handed. */
export interface WholeAnswer {
  status: number;
  phrase: string;
  /** In wire text, and as the server writes their names: those that are true of `body`. */
  headers: { name: string; value: string }[];
  body: Buffer;
}

export interface BridgeAnswer extends WholeAnswer {
  /** All that the server has sent; also what was true of the body before it was decoded. */
  received: { name: string; value: string }[];
  /** What comes after `body` when that is not all of it: of one larger than {@link MAX_BODY_BYTES}, or a stream. */
  rest: AnswerBody | null;
  /** The browser will not show it. */
  isDownload: boolean;
  /** What it was on the network. */
  exchange: {
    server: BridgeServer | undefined;
    /** From the request to the answer's head, in ms. */
    waited: number;
    /** The head as the server has sent it, in wire text. */
    head: string;
    /** The answer as it crossed the network, in bytes, as far as it has; without the frames of a chunked one. */
    bytes(): number;
  };
}

/**
 * Bound on the body of an answer that is handed to the browser, in bytes. It crosses the link in one message, in base64,
 * and Chromium closes the link on a message of more than 100 MB.
 */
export const MAX_BODY_BYTES = 70 * 1024 * 1024;
/** The browser is handed a download that is no larger, in bytes. */
const DOWNLOAD_BYTES = 256 * 1024;
/** Bound on waiting for the head of an answer, and for each next piece of its body, in ms: as long as Chromium waits. */
const ANSWER_TIMEOUT_MS = 300_000;
/** How long the whole of a body may take before it is taken for one that comes in parts, in ms. */
const STREAM_MS = 50;

/** Headers about one connection, which are the sender's own to set. */
const OF_CONNECTION =
  /^(:.*|host|connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|content-length|expect|accept-encoding)$/i;

const FAILURES: Readonly<Record<string, Protocol.Network.ErrorReason>> = {
  ECONNREFUSED: 'ConnectionRefused',
  ECONNRESET: 'ConnectionReset',
  EPIPE: 'ConnectionReset',
  UND_ERR_SOCKET: 'ConnectionClosed',
  ENOTFOUND: 'NameNotResolved',
  EAI_AGAIN: 'NameNotResolved',
  ETIMEDOUT: 'TimedOut',
  UND_ERR_CONNECT_TIMEOUT: 'TimedOut',
  UND_ERR_HEADERS_TIMEOUT: 'TimedOut',
  UND_ERR_BODY_TIMEOUT: 'TimedOut',
  EHOSTUNREACH: 'AddressUnreachable',
  ENETUNREACH: 'AddressUnreachable',
};

/** The encodings of bodies that are asked for. */
export const ACCEPTED = 'gzip, deflate, br';

const DECODERS: Readonly<Record<string, () => Gunzip | Inflate | BrotliDecompress>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** Makes pages' requests from this machine. Redirects are not followed: the page does that, and is asked anew. */
export class BridgeFetcher {
  readonly #connections = new BridgeConnections(ANSWER_TIMEOUT_MS);
  readonly #onCarried: (bytes: number) => void;

  /** @param onCarried told of the bytes of bodies, both ways and decoded */
  constructor(onCarried: (bytes: number) => void) {
    this.#onCarried = onCarried;
  }

  /** Never rejects. */
  async fetch(request: BridgeRequest): Promise<BridgeOutcome> {
    try {
      return await this.#fetch(request);
    } catch (error) {
      return describeFailure(error);
    }
  }

  /** Cuts what is under way. */
  close(): void {
    this.#connections.close();
  }

  async #send(...args: Parameters<typeof send>): ReturnType<typeof send> {
    for (;;) {
      try {
        return await send(...args);
      } catch (error) {
        if (!this.#connections.wasStale(error)) throw error;
      }
    }
  }

  async #fetch(request: BridgeRequest): Promise<BridgeOutcome> {
    const { url, method, headers, body, ignoreHTTPSErrors, download, signal } = request;
    const sent = Object.fromEntries(Object.entries(headers).filter(([name]) => !OF_CONNECTION.test(name)));
    this.#onCarried(body?.length ?? 0);
    const asked = performance.now();
    const answer = await this.#send(url, {
      method: method as Dispatcher.HttpMethod,
      headers: { ...sent, 'accept-encoding': ACCEPTED },
      body,
      signal,
      responseHeaders: 'raw',
      dispatcher: this.#connections.agent(ignoreHTTPSErrors),
    });
    const waited = performance.now() - asked;
    const received = pairs(answer.headers);
    const header = (wanted: string) => received.find(({ name }) => name.toLowerCase() === wanted)?.value;
    const { statusCode: status, statusText: phrase } = answer;
    const lines = received.map(({ name, value }) => `${name}: ${value}\r\n`);
    const head = `HTTP/1.1 ${status} ${phrase}\r\n${lines.join('')}\r\n`;
    const encoding = (header('content-encoding') ?? '').toLowerCase();
    const bodiless = method === 'HEAD' || status === 204 || status === 304;
    // Chromium takes what it is handed as it is: it has decoded nothing, so this must.
    const decoder = bodiless ? undefined : DECODERS[encoding]?.();
    const source = new AnswerBody(answer.body, decoder, this.#onCarried);
    // Of one that is known to be large nothing needs to be held here.
    const known = decoder || bodiless ? 0 : Number(header('content-length') ?? 0);
    const patience = bodiless ? ANSWER_TIMEOUT_MS : STREAM_MS;
    const isDownload = status === 200 && (download === 'is' || (download === 'may-be' && isDownloaded(header)));
    const most = isDownload ? DOWNLOAD_BYTES : MAX_BODY_BYTES;
    const { begun, ended } =
      known > most ? { begun: Buffer.alloc(0), ended: false } : await source.readWithin(most + 1, patience);
    return {
      status,
      phrase,
      headers: received.filter(
        // Of a decoded body both are untrue.
        ({ name }) => decoder === undefined || !/^content-(encoding|length)$/i.test(name),
      ),
      received,
      body: begun,
      rest: ended ? null : source,
      isDownload,
      exchange: {
        server: this.#connections.serverOf(url),
        waited,
        head,
        bytes: () => head.length + source.encodedBytes,
      },
    };
  }
}

/** Whether a browser that is led there downloads it: it is told to, or cannot show such a thing. */
function isDownloaded(header: (name: string) => string | undefined): boolean {
  const type = (header('content-type') ?? '').toLowerCase();
  if (/^\s*attachment\b/i.test(header('content-disposition') ?? '')) return true;
  return /^application\/(octet-stream|zip|gzip|x-(zip|gzip|tar|bzip2?|7z|rar)\S*|vnd\.(ms|openxml)\S+)/.test(type);
}

/** @param raw names and values in turns, which is what undici gives for `responseHeaders: 'raw'` */
function pairs(raw: unknown): { name: string; value: string }[] {
  const flat = raw as string[];
  return flat.flatMap((name, at) => (at % 2 === 0 ? [{ name, value: flat[at + 1] ?? '' }] : []));
}

function describeFailure(error: unknown): BridgeOutcome {
  const { code, message } = error as NodeJS.ErrnoException;
  return {
    failure: FAILURES[code ?? ''] ?? 'Failed',
    detail: message || code || String(error),
    netError: netErrorOf(code),
  };
}
