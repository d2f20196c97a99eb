import type { Protocol } from 'devtools-protocol';
import { within } from '../../../common/pause.ts';
import { urlCredentials } from '../../../common/url/credentials.ts';
import { SessionMap } from '../../model/per-session.ts';
import type { InterceptorTransport } from '../../transport/interceptor.ts';
import { type CdpMessage, fieldsOf } from '../../transport/message.ts';
import type { Outcome } from './fetcher.ts';
import type { PausedRequest } from './paused-request.ts';

/** Time limit for the client's response, in ms: it has the credentials at hand. */
const RESPONSE_MS = 10_000;

/**
 * Asks the client for `httpCredentials` when a proxied request gets a 401, as the browser does for its own requests.
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
    return username !== '' && challengeOf(outcome) !== null ? basic(username, password) : null;
  }

  /** `Authorization` for a retry; null if there is none, or the server asks for another scheme. */
  async ask({ sessionId, requestId, url }: PausedRequest, outcome: Outcome): Promise<string | null> {
    const challenge = challengeOf(outcome);
    if (challenge === null) return null;
    const key = `${sessionId} ${requestId}`;
    const given = new Promise<string | null>((resolve) => this.#asked.set(key, resolve, sessionId));
    const [, realm = ''] = /realm="([^"]*)"/i.exec(challenge) ?? [];
    const authChallenge = { source: 'Server', origin: new URL(url).origin, scheme: 'basic', realm };
    const params = { requestId, request: { url }, authChallenge };
    this.#transport.deliver({ sessionId, method: 'Fetch.authRequired', params });
    return await within(given, RESPONSE_MS, null).finally(() => this.#asked.delete(key));
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

/** The challenge of a server; null if there is none or its scheme is not supported. */
function challengeOf(outcome: Outcome): string | null {
  if ('failure' in outcome || outcome.status !== 401) return null;
  const isBasic = ({ name, value }: { name: string; value: string }) =>
    /^www-authenticate$/i.test(name) && /^basic\b/i.test(value);
  return outcome.headers.find(isBasic)?.value ?? null;
}

function basic(username: string, password: string): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}
