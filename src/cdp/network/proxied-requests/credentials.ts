import { createHash, randomBytes } from 'node:crypto';
import type { Protocol } from 'devtools-protocol';
import { within } from '../../../common/pause.ts';
import { urlCredentials } from '../../../common/url/credentials.ts';
import { type CdpMessage, fieldsOf } from '../../message.ts';
import { SessionMap } from '../../model/per-session.ts';
import type { InterceptorTransport } from '../../transport/interceptor.ts';
import type { PausedRequest } from '../request/paused-request.ts';
import { type ContextProxy, originOf } from '../send/context-proxy/context-proxy.ts';
import type { Outcome, ProxyRequest } from '../send/fetcher.ts';

const BASIC = /^basic\b/i;
const DIGEST = /^digest\b/i;
/** Time limit for the client's response, in ms: it has the credentials at hand. */
const RESPONSE_MS = 10_000;

interface Challenge {
  /** Of the header `WWW-Authenticate` or `Proxy-Authenticate`. */
  value: string;
  isForProxy: boolean;
}

interface Who {
  username: string;
  password: string;
}

/** The request that was challenged. */
type Requested = Pick<ProxyRequest, 'method' | 'url'>;

/**
 * Asks the client for `httpCredentials` when a proxied request gets a 401, or a 407 of a proxy, as the browser does for
 * its own requests.
 */
export class Credentials {
  readonly #transport: InterceptorTransport;
  readonly #asked: SessionMap<string, (who: Who | null) => void>;

  constructor(transport: InterceptorTransport) {
    this.#transport = transport;
    this.#asked = new SessionMap(transport.model);
  }

  /** `Authorization` from the name and password in the address, which are tried first; null if there are none. */
  static inAddress(request: Requested, outcome: Outcome): string | null {
    const who = urlCredentials(new URL(request.url));
    const challenge = challengeOf(outcome);
    return who.username !== '' && challenge?.isForProxy === false ? answerTo(challenge, request, who) : null;
  }

  /**
   * `Authorization`, or `Proxy-Authorization`, for a retry; null if there is none, or another scheme is required.
   * @param proxy of the request's context
   */
  async ask(
    { sessionId, requestId, url }: PausedRequest,
    request: Requested,
    outcome: Outcome,
    proxy: ContextProxy | undefined,
  ): Promise<{ authorization: string; isForProxy: boolean } | null> {
    const challenge = challengeOf(outcome);
    if (challenge === null || (challenge.isForProxy && !proxy)) return null;
    const { isForProxy } = challenge;
    const key = `${sessionId} ${requestId}`;
    const given = new Promise<Who | null>((resolve) => this.#asked.set(key, resolve, sessionId));
    const [, realm = ''] = /realm="([^"]*)"/i.exec(challenge.value) ?? [];
    const scheme = BASIC.test(challenge.value) ? 'basic' : 'digest';
    const origin = isForProxy && proxy ? originOf(proxy.server) : new URL(url).origin;
    const authChallenge = { source: isForProxy ? 'Proxy' : 'Server', origin, scheme, realm };
    const params = { requestId, request: { url }, authChallenge };
    this.#transport.deliver({ sessionId, method: 'Fetch.authRequired', params });
    const who = await within(given, RESPONSE_MS, null).finally(() => this.#asked.delete(key));
    const authorization = who && answerTo(challenge, request, who);
    return authorization === null ? null : { authorization, isForProxy };
  }

  /** Returns null for the client's response to our own event. */
  onCommand(command: CdpMessage): CdpMessage | null {
    const { id, method, sessionId, params } = command;
    if (method !== 'Fetch.continueWithAuth') return command;
    const { requestId, authChallengeResponse } = fieldsOf<Protocol.Fetch.ContinueWithAuthRequest>(params);
    const settle = this.#asked.get(`${sessionId} ${requestId}`);
    if (!settle) return command;
    const { response, username, password } = fieldsOf<Protocol.Fetch.AuthChallengeResponse>(authChallengeResponse);
    settle(response === 'ProvideCredentials' ? { username: String(username), password: String(password) } : null);
    this.#transport.deliver({ id, sessionId, result: {} });
    return null;
  }
}

/** The best challenge of a server or proxy; null if there is none or its scheme is not supported. */
export function challengeOf(outcome: Outcome): Challenge | null {
  if ('failure' in outcome) {
    const value = outcome.proxyChallenge;
    return value !== undefined && BASIC.test(value) ? { value, isForProxy: true } : null;
  }
  const isForProxy = outcome.status === 407;
  if (outcome.status !== 401 && !isForProxy) return null;
  const header = isForProxy ? /^proxy-authenticate$/i : /^www-authenticate$/i;
  const offered = outcome.headers.filter(({ name }) => header.test(name)).map(({ value }) => value);
  // Digest is the better one, if it is known.
  const byDigest = isForProxy ? undefined : offered.find((each) => DIGEST.test(each) && digestChallenge(each));
  const value = byDigest ?? offered.find((each) => BASIC.test(each));
  return value === undefined ? null : { value, isForProxy };
}

function answerTo({ value }: Challenge, { method, url }: Requested, { username, password }: Who): string | null {
  if (BASIC.test(value)) return basic(username, password);
  const challenge = digestChallenge(value);
  if (!challenge) return null;
  const { pathname, search } = new URL(url);
  return digest(challenge, { method, uri: `${pathname}${search}`, username, password });
}

function basic(username: string, password: string): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}

/** The hash of each algorithm that Chromium knows; `-sess` after it is a variant. */
const HASHES: Readonly<Record<string, string>> = { md5: 'md5', 'sha-256': 'sha256' };
const PARAMETER = /([\w-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s",]+))/g;

/** What is requested, and by whom. */
interface Asked {
  method: string;
  /** Path and query. */
  uri: string;
  username: string;
  password: string;
}

interface DigestChallenge {
  realm: string;
  nonce: string;
  opaque: string | undefined;
  /** As the server wrote it. */
  algorithm: string;
  hash: string;
  isSession: boolean;
  /** Whether it knows `qop=auth`; older servers know none. */
  isAuth: boolean;
}

/** Reads a `Digest` challenge (RFC 7616); null if it asks for what Chromium does not know, either. */
function digestChallenge(text: string): DigestChallenge | null {
  const given: Record<string, string> = {};
  for (const [, name = '', quoted, token] of text.replace(/^\s*digest\s+/i, '').matchAll(PARAMETER))
    given[name.toLowerCase()] ??= quoted?.replaceAll(/\\(.)/g, '$1') ?? token ?? '';
  const { realm = '', nonce, opaque, algorithm = 'MD5', qop } = given;
  const [, name = '', session] = /^(.*?)(-sess)?$/i.exec(algorithm.toLowerCase()) ?? [];
  const hash = HASHES[name];
  const isAuth = qop?.split(',').some((each) => each.trim().toLowerCase() === 'auth');
  if (hash === undefined || nonce === undefined || isAuth === false) return null;
  return { realm, nonce, opaque, algorithm, hash, isSession: session !== undefined, isAuth: isAuth === true };
}

/** The `Authorization` that answers a challenge. */
function digest(
  { realm, nonce, opaque, algorithm, hash, isSession, isAuth }: DigestChallenge,
  { method, uri, username, password }: Asked,
): string {
  const of = (...parts: string[]) => createHash(hash).update(parts.join(':')).digest('hex');
  // One request for each nonce.
  const [count, own] = ['00000001', randomBytes(8).toString('hex')];
  const user = of(username, realm, password);
  const who = isSession ? of(user, nonce, own) : user;
  const what = of(method, uri);
  const response = isAuth ? of(who, nonce, count, own, 'auth', what) : of(who, nonce, what);
  const quote = (text: string) => `"${text.replaceAll(/["\\]/g, '\\$&')}"`;
  const fields = [
    `username=${quote(username)}`,
    `realm=${quote(realm)}`,
    `nonce=${quote(nonce)}`,
    `uri=${quote(uri)}`,
    `algorithm=${algorithm}`,
    `response=${quote(response)}`,
    ...(opaque === undefined ? [] : [`opaque=${quote(opaque)}`]),
    ...(isAuth ? ['qop=auth', `nc=${count}`] : []),
    ...(isAuth || isSession ? [`cnonce=${quote(own)}`] : []),
  ];
  return `Digest ${fields.join(', ')}`;
}
