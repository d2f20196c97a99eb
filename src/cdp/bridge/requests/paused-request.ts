import type { Protocol } from 'devtools-protocol';
import * as v from 'valibot';
import type { BrowserCommands, CommandParams } from '../../transport/interceptor.ts';
import { type Fields, fieldsOf } from '../../transport/message.ts';
import { binaryHeaders, wireText } from '../headers/header-bytes.ts';
import type { PageHeaders } from '../headers/page-headers.ts';
import type { BridgeFailure, WholeAnswer } from './bridge-fetch.ts';

/** A request that the browser has stopped before it went out. */
export interface PausedRequest {
  sessionId: string;
  /** Of the Fetch domain. */
  requestId: string;
  /** Of the Network domain. */
  networkId: string | undefined;
  frameId: string | undefined;
  url: string;
  method: string;
  /** A document, for a frame or a page: no script has given it headers. */
  isNavigation: boolean;
  /** An answer has led here. Not so where the browser begins a request once more, as a font's behind a redirect. */
  isRedirected: boolean;
  /** What it is for, in words of CDP's `Network.ResourceType`. */
  resourceType: string;
  headers: Record<string, string>;
  hasBody: boolean;
  /** Null where there is none, and where the browser has to be asked, because files are in it. */
  body: Buffer | null;
}

/** What Playwright may change about a request that it lets go on. */
export type ContinueFields = Fields<Protocol.Fetch.ContinueRequestRequest>;

/** Headers as the client gives them. */
export const givenHeaders = v.array(v.looseObject({ name: v.string(), value: v.string() }));

const pausedParams = v.looseObject({
  requestId: v.string(),
  networkId: v.optional(v.string()),
  redirectedRequestId: v.optional(v.string()),
  frameId: v.optional(v.string()),
  resourceType: v.optional(v.string()),
  request: v.looseObject({
    url: v.string(),
    method: v.string(),
    headers: v.record(v.string(), v.string()),
    hasPostData: v.optional(v.boolean()),
    postDataEntries: v.optional(v.array(v.looseObject({ bytes: v.optional(v.string()) }))),
  }),
});

const postData = v.looseObject({ postData: v.string(), base64Encoded: v.optional(v.boolean()) });

/** Reads `Fetch.requestPaused`; null for what is stopped at its answer, or no such event. */
export function pausedRequest(sessionId: string, params: unknown): PausedRequest | null {
  const { responseStatusCode, responseErrorReason } = fieldsOf<Protocol.Fetch.RequestPausedEvent>(params);
  if (responseStatusCode !== undefined || responseErrorReason !== undefined) return null;
  const { success, output: data } = v.safeParse(pausedParams, params);
  if (!success) return null;
  const { requestId, networkId, redirectedRequestId, frameId, resourceType, request } = data;
  return {
    sessionId,
    requestId,
    networkId,
    frameId,
    url: request.url,
    method: request.method,
    isNavigation: resourceType === 'Document',
    isRedirected: redirectedRequestId !== undefined,
    resourceType: resourceType ?? 'Other',
    headers: request.headers,
    hasBody: request.hasPostData === true || (request.postDataEntries ?? []).length > 0,
    // At once: what the browser wrote is more than twice as large, and need not be kept.
    body: decoded(request.postDataEntries ?? []),
  };
}

/**
 * The headers to send, in wire text: Playwright's where it gives any, but cookies are always the browser's.
 * @param announced knows what the browser left out when it stopped the request
 */
export function requestHeaders(
  { headers, networkId }: PausedRequest,
  changes: ContinueFields,
  announced: PageHeaders,
): Record<string, string> {
  const own = Object.entries(headers).map(
    ([name, value]) => [name, announced.wireText(networkId, name, value) ?? wireText(value)] as const,
  );
  if (!changes.headers) return Object.fromEntries(own);
  const given = v.parse(givenHeaders, changes.headers).map(({ name, value }) => [name, wireText(value)] as const);
  return Object.fromEntries([...given, ...own.filter(([name]) => /^cookie$/i.test(name))]);
}

/**
 * The body to send; null for none.
 * @throws PoolwrightError when the browser does not hand it out
 */
export async function requestBody(
  commands: BrowserCommands,
  paused: PausedRequest,
  changes: ContinueFields,
): Promise<Buffer | null> {
  if (typeof changes.postData === 'string') return Buffer.from(changes.postData, 'base64');
  const { body, hasBody, networkId, sessionId } = paused;
  if (!hasBody || body) return body;
  const asked = { requestId: String(networkId) };
  const answer = v.parse(postData, await commands.call('Network.getRequestPostData', asked, sessionId));
  return Buffer.from(answer.postData, answer.base64Encoded ? 'base64' : 'utf8');
}

type Answer =
  | ['Fetch.failRequest', CommandParams<'Fetch.failRequest'>]
  | ['Fetch.fulfillRequest', CommandParams<'Fetch.fulfillRequest'>];

/** The command that ends a request as it ended here. */
export function answerTo(requestId: string, outcome: WholeAnswer | BridgeFailure): Answer {
  if ('failure' in outcome) return ['Fetch.failRequest', { requestId, errorReason: outcome.failure }];
  const { status, phrase, headers, body } = outcome;
  const params = {
    requestId,
    responseCode: status,
    ...(phrase !== '' && { responsePhrase: phrase }),
    // As bytes: text would be sent as UTF-8, whatever the server's was.
    binaryResponseHeaders: binaryHeaders(headers),
    body: body.toString('base64'),
  };
  return ['Fetch.fulfillRequest', params];
}

function decoded(entries: { bytes?: string | undefined }[]): Buffer | null {
  const parts: Buffer[] = [];
  for (const { bytes } of entries) {
    if (bytes === undefined) return null;
    parts.push(Buffer.from(bytes, 'base64'));
  }
  if (parts.length === 1 && parts[0]) return parts[0];
  return parts.length > 0 ? Buffer.concat(parts) : null;
}
