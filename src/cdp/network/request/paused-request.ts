import type { Protocol } from 'devtools-protocol';
import * as v from 'valibot';
import { type Fields, fieldsOf } from '../../message.ts';
import type { NetworkRequest } from '../../model/requests.ts';
import type { BrowserCommands, CommandParams } from '../../transport/interceptor.ts';
import { binaryHeaders, byLowerCase, wireText } from '../headers/header-list.ts';
import type { Failure } from '../send/failures.ts';
import type { WholeResponse } from '../send/fetcher.ts';
import type { ProxiedTarget } from './proxied-targets.ts';

/** A request that the browser has paused before sending it. */
export interface PausedRequest {
  /** The target that it belongs to; its session may have ended. */
  target: ProxiedTarget;
  /** The session that paused it: the target's, or one on the browser, which is undefined for the root session. */
  sessionId: string | undefined;
  /** Its ID in the Fetch domain. */
  requestId: string;
  /** Its ID in the Network domain. */
  networkId: string | undefined;
  frameId: string | undefined;
  url: string;
  method: string;
  /** A document for a frame or a page: scripts cannot set its headers. */
  isNavigation: boolean;
  /**
   * The ID, in the Fetch domain, of the request whose redirect caused it. Undefined also if the browser restarts a
   * request, as for a font behind a redirect.
   */
  redirectedFrom: string | undefined;
  /** Its type, in the terms of CDP's `Network.ResourceType`. */
  resourceType: string;
  headers: Record<string, string>;
  hasBody: boolean;
  /** Null if it has none, or if the browser must be asked for it because it contains files. */
  body: Buffer | null;
}

/** What the client may change when it continues a request. */
export type ContinueFields = Fields<Protocol.Fetch.ContinueRequestRequest>;

/** Headers in the client's format. */
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

/** Parses `Fetch.requestPaused`; null for a request paused at its response, and for any other event. */
export function pausedRequest(target: ProxiedTarget, params: unknown): PausedRequest | null {
  const { responseStatusCode, responseErrorReason } = fieldsOf<Protocol.Fetch.RequestPausedEvent>(params);
  if (responseStatusCode !== undefined || responseErrorReason !== undefined) return null;
  const { success, output: data } = v.safeParse(pausedParams, params);
  if (!success) return null;
  const { requestId, networkId, redirectedRequestId, frameId, resourceType, request } = data;
  return {
    target,
    sessionId: target.session.id,
    requestId,
    networkId,
    frameId,
    url: request.url,
    method: request.method,
    isNavigation: resourceType === 'Document',
    redirectedFrom: redirectedRequestId,
    resourceType: resourceType ?? 'Other',
    headers: request.headers,
    hasBody: request.hasPostData === true || (request.postDataEntries ?? []).length > 0,
    // Decoded at once: the browser's JSON is more than twice as large and need not be kept.
    body: decoded(request.postDataEntries ?? []),
  };
}

/**
 * The headers to send, in wire text: the client's if it sets any, but cookies always come from the browser.
 * @param announced the request as the browser announced it
 */
export function requestHeaders(
  { headers }: Pick<PausedRequest, 'headers'>,
  changes: ContinueFields,
  announced: Pick<NetworkRequest, 'headers'> | undefined,
): Record<string, string> {
  const values = announcedValues(announced, headers);
  const own = Object.entries(headers).map(
    ([name, value]) => [name, values.get(name.toLowerCase()) ?? wireText(value)] as const,
  );
  if (!changes.headers) return Object.fromEntries(own);
  const given = v.parse(givenHeaders, changes.headers).map(({ name, value }) => [name, wireText(value)] as const);
  return Object.fromEntries([...given, ...own.filter(([name]) => /^cookie$/i.test(name))]);
}

/**
 * The body to send; null for none.
 * @throws PoolwrightError when the browser does not provide it
 */
export async function requestBody(
  commands: BrowserCommands,
  paused: PausedRequest,
  changes: ContinueFields,
): Promise<Buffer | null> {
  if (typeof changes.postData === 'string') return Buffer.from(changes.postData, 'base64');
  const { body, hasBody, networkId, target } = paused;
  if (!hasBody || body) return body;
  const asked = { requestId: String(networkId) };
  const result = v.parse(postData, await commands.call('Network.getRequestPostData', asked, target.session.id));
  return Buffer.from(result.postData, result.base64Encoded ? 'base64' : 'utf8');
}

type ResponseCommand =
  | ['Fetch.failRequest', CommandParams<'Fetch.failRequest'>]
  | ['Fetch.fulfillRequest', CommandParams<'Fetch.fulfillRequest'>];

/** The command that gives the browser the result of a request made here. */
export function responseCommand(requestId: string, outcome: WholeResponse | Failure): ResponseCommand {
  if ('failure' in outcome) return ['Fetch.failRequest', { requestId, errorReason: outcome.failure }];
  const { status, phrase, headers, body } = outcome;
  const params = {
    requestId,
    responseCode: status,
    ...(phrase !== '' && { responsePhrase: phrase }),
    // As bytes: text would be sent as UTF-8, whatever encoding the server used.
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

/** Headers that the browser sets itself, in ASCII. */
const BROWSERS_OWN =
  /^(accept|accept-(encoding|language)|cache-control|content-(length|type)|cookie|host|if-.*|origin|pragma|purpose|range|referer|sec-.*|upgrade-insecure-requests|user-agent)$/i;

/** Whether a script may have set one of these headers to bytes that are not UTF-8. */
export function mayHaveOwnBytes(headers: Record<string, string>): boolean {
  return !Object.keys(headers).every((name) => BROWSERS_OWN.test(name));
}

/**
 * Wire text of header values with bytes that are not UTF-8, which scripts may pass to `fetch()`. When the browser
 * pauses a request, it drops such bytes and some of those after them; when it announces the request, they are complete.
 * @returns the value by lower-case header name, where the paused request has a wrong one
 */
function announcedValues(
  request: Pick<NetworkRequest, 'headers'> | null | undefined,
  stopped: Record<string, string>,
): Map<string, string> {
  const left = byLowerCase(stopped);
  const values = new Map<string, string>();
  for (const [name, value] of Object.entries(request?.headers ?? {})) {
    const isLatin1 = typeof value === 'string' && /[\x80-\xff]/.test(value) && !/[^\0-\xff]/.test(value);
    // Both are equal: the browser itself has converted the value to UTF-8.
    if (isLatin1 && left[name.toLowerCase()] !== value) values.set(name.toLowerCase(), value);
  }
  return values;
}
