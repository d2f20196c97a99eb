import type { Protocol } from 'devtools-protocol';
import { within } from '../../../common/pause.ts';
import { urlCredentials } from '../../../common/url/credentials.ts';
import { type CdpMessage, fieldsOf } from '../../message.ts';
import { SessionMap } from '../../model/per-session.ts';
import type { InterceptorTransport } from '../../transport/interceptor.ts';
import { type ContextProxy, originOf } from '../context-proxy/context-proxy.ts';
import type { Outcome } from './fetcher.ts';
import type { PausedRequest } from './paused-request.ts';

const BASIC = /^basic\b/i;
/** Time limit for the client's response, in ms: it has the credentials at hand. */
const RESPONSE_MS = 10_000;

/**
 * Asks the client for `httpCredentials` when a proxied request gets a 401, or a 407 of a proxy, as the browser does for
 * its own requests.
 */
export class Credentials {
  readonly #transport: InterceptorTransport;
  readonly #asked: SessionMap<string, (authorization: string | null) => void>;

  constructor(transport: InterceptorTransport) {
    this.#transport = transport;
    this.#asked = new SessionMap(transport.model);
  }

  /** `Authorization` from the name and password in the address, which are tried first; null if there are none. */
  static inAddress(url: string, outcome: Outcome): string | null {
    const { username, password } = urlCredentials(new URL(url));
    return username !== '' && challengeOf(outcome)?.isForProxy === false ? basic(username, password) : null;
  }

  /**
   * `Authorization`, or `Proxy-Authorization`, for a retry; null if there is none, or another scheme is required.
   * @param proxy of the request's context
   */
  async ask(
    { sessionId, requestId, url }: PausedRequest,
    outcome: Outcome,
    proxy: ContextProxy | undefined,
  ): Promise<{ authorization: string; isForProxy: boolean } | null> {
    const challenge = challengeOf(outcome);
    if (challenge === null || (challenge.isForProxy && !proxy)) return null;
    const { isForProxy } = challenge;
    const key = `${sessionId} ${requestId}`;
    const given = new Promise<string | null>((resolve) => this.#asked.set(key, resolve, sessionId));
    const [, realm = ''] = /realm="([^"]*)"/i.exec(challenge.value) ?? [];
    const origin = isForProxy && proxy ? originOf(proxy.server) : new URL(url).origin;
    const authChallenge = { source: isForProxy ? 'Proxy' : 'Server', origin, scheme: 'basic', realm };
    const params = { requestId, request: { url }, authChallenge };
    this.#transport.deliver({ sessionId, method: 'Fetch.authRequired', params });
    const authorization = await within(given, RESPONSE_MS, null).finally(() => this.#asked.delete(key));
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
    settle(response === 'ProvideCredentials' ? basic(String(username), String(password)) : null);
    this.#transport.deliver({ id, sessionId, result: {} });
    return null;
  }
}

/** The challenge of a server or proxy; null if there is none or its scheme is not supported. */
export function challengeOf(outcome: Outcome): { value: string; isForProxy: boolean } | null {
  if ('failure' in outcome) {
    const value = outcome.proxyChallenge;
    return value !== undefined && BASIC.test(value) ? { value, isForProxy: true } : null;
  }
  const isForProxy = outcome.status === 407;
  if (outcome.status !== 401 && !isForProxy) return null;
  const header = isForProxy ? /^proxy-authenticate$/i : /^www-authenticate$/i;
  const found = outcome.headers.find(({ name, value }) => header.test(name) && BASIC.test(value));
  return found ? { value: found.value, isForProxy } : null;
}

function basic(username: string, password: string): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}
