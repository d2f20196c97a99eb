import {
  type BrotliDecompress,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  type Gunzip,
  type Inflate,
} from 'node:zlib';
import type { Protocol } from 'devtools-protocol';
import { Agent, type Dispatcher, request as send } from 'undici';
import { AnswerBody } from './answer-body.ts';
import { netErrorOf } from './headers/net-error-names.ts';
import { localhostHere } from './localhost.ts';

/** A request of a page, to be made from this machine. */
export interface BridgeRequest {
  url: string;
  method: string;
  /** In wire text. */
  headers: Record<string, string>;
  body: Buffer | null;
  /** The page's context takes any certificate. */
  ignoreHTTPSErrors: boolean;
  /** A script may wait for it: it is handed over as it comes, where it takes its time. */
  isScripts: boolean;
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

export interface BridgeAnswer {
  status: number;
  phrase: string;
  /** In wire text, and as the server writes their names: those that are true of `body`. */
  headers: { name: string; value: string }[];
  /** All that the server has sent; also what was true of the body before it was decoded. */
  received: { name: string; value: string }[];
  body: Buffer;
  /** What comes after `body` when that is not all of it: of one larger than {@link MAX_BODY_BYTES}, or a stream. */
  rest: AnswerBody | null;
}

/**
 * Bound on the body of an answer that is handed to the browser, in bytes. It crosses the link in one message, in base64,
 * and Chromium closes the link on a message of more than 100 MB.
 */
export const MAX_BODY_BYTES = 70 * 1024 * 1024;
/** Bound on connecting, in ms. */
const CONNECT_TIMEOUT_MS = 30_000;
/** Bound on waiting for the head of an answer, and for each next piece of its body, in ms: as long as Chromium waits. */
const ANSWER_TIMEOUT_MS = 300_000;
/** How long the whole of a body may take before it is taken for one that comes in parts, in ms. */
const STREAM_MS = 50;
/** A kept connection may be closed by its server just when the next request is on its way, in ms. */
const KEEP_ALIVE_MS = 1_000;

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
  #strict: Agent | undefined;
  #lenient: Agent | undefined;
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
    void this.#strict?.destroy();
    void this.#lenient?.destroy();
  }

  async #fetch(request: BridgeRequest): Promise<BridgeOutcome> {
    const { url, method, headers, body, ignoreHTTPSErrors, isScripts, signal } = request;
    const sent = Object.fromEntries(Object.entries(headers).filter(([name]) => !OF_CONNECTION.test(name)));
    this.#onCarried(body?.length ?? 0);
    const answer = await send(url, {
      method: method as Dispatcher.HttpMethod,
      headers: { ...sent, 'accept-encoding': ACCEPTED },
      body,
      signal,
      responseHeaders: 'raw',
      dispatcher: this.#agent(ignoreHTTPSErrors),
    });
    const received = pairs(answer.headers);
    const header = (wanted: string) => received.find(({ name }) => name.toLowerCase() === wanted)?.value;
    const { statusCode: status, statusText: phrase } = answer;
    const encoding = (header('content-encoding') ?? '').toLowerCase();
    const bodiless = method === 'HEAD' || status === 204 || status === 304;
    // Chromium takes what it is handed as it is: it has decoded nothing, so this must.
    const decoder = bodiless ? undefined : DECODERS[encoding]?.();
    const source = new AnswerBody(answer.body, decoder, this.#onCarried);
    // Of one that is known to be large nothing needs to be held here.
    const known = decoder || bodiless ? 0 : Number(header('content-length') ?? 0);
    const patience = isScripts && !bodiless ? STREAM_MS : ANSWER_TIMEOUT_MS;
    const { begun, ended } =
      known > MAX_BODY_BYTES
        ? { begun: Buffer.alloc(0), ended: false }
        : await source.readWithin(MAX_BODY_BYTES + 1, patience);
    return {
      status,
      phrase,
      headers: received.filter(
        ({ name }) =>
          !/^(transfer-encoding|connection|keep-alive)$/i.test(name) &&
          // Of a decoded body both are untrue.
          (decoder === undefined || !/^content-(encoding|length)$/i.test(name)),
      ),
      received,
      body: begun,
      rest: ended ? null : source,
    };
  }

  #agent(ignoreHTTPSErrors: boolean): Agent {
    this.#strict ??= newAgent(true);
    if (!ignoreHTTPSErrors) return this.#strict;
    this.#lenient ??= newAgent(false);
    return this.#lenient;
  }
}

/** @param raw names and values in turns, which is what undici gives for `responseHeaders: 'raw'` */
function pairs(raw: unknown): { name: string; value: string }[] {
  const flat = raw as string[];
  return flat.flatMap((name, at) => (at % 2 === 0 ? [{ name, value: flat[at + 1] ?? '' }] : []));
}

function newAgent(rejectUnauthorized: boolean): Agent {
  return new Agent({
    allowH2: false,
    connect: { timeout: CONNECT_TIMEOUT_MS, rejectUnauthorized, lookup: localhostHere },
    headersTimeout: ANSWER_TIMEOUT_MS,
    bodyTimeout: ANSWER_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    // A browser that is told to keep a connection longer may; this one has no use for it.
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
  });
}

function describeFailure(error: unknown): BridgeOutcome {
  const { code, message } = error as NodeJS.ErrnoException;
  return {
    failure: FAILURES[code ?? ''] ?? 'Failed',
    detail: message || code || String(error),
    netError: netErrorOf(code),
  };
}
