import type { Protocol } from 'devtools-protocol';
import { within } from '../../../common/pause.ts';
import { urlCredentials } from '../../../common/url/credentials.ts';
import { type CdpMessage, fieldsOf } from '../../message.ts';
import { SessionMap } from '../../model/per-session.ts';
import type { InterceptorTransport } from '../../transport/interceptor.ts';
import type { PausedRequest } from '../request/paused-request.ts';
import { type ContextProxy, originOf } from '../send/context-proxy/context-proxy.ts';
import type { Outcome, ProxyRequest } from '../send/fetcher.ts';
import { digest, digestChallenge } from './digest.ts';

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
