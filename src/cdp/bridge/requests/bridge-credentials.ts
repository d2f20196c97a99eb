import type { Protocol } from 'devtools-protocol';
import { urlCredentials } from '../../../common/url/credentials.ts';
import type { InterceptorLink } from '../../transport/interceptor.ts';
import { type CdpMessage, fieldsOf } from '../../transport/message.ts';
import type { BridgeOutcome } from './bridge-fetch.ts';
import type { PausedRequest } from './paused-request.ts';

/** Bound on Playwright's answer, in ms: it asks nobody. */
const ANSWER_TIMEOUT_MS = 10_000;

/** Asks Playwright for `httpCredentials` when a carried request is answered 401, as the browser asks it for its own. */
export class BridgeCredentials {
  readonly #link: InterceptorLink;
  readonly #asked = new Map<string, (authorization: string | null) => void>();

  constructor(link: InterceptorLink) {
    this.#link = link;
  }

  /** The same of a name and password in the address, which are tried before any other. */
  static inAddress(url: string, outcome: BridgeOutcome): string | null {
    const { username, password } = urlCredentials(new URL(url));
    return username !== '' && challengeOf(outcome) !== null ? basic(username, password) : null;
  }

  /** Value of the `Authorization` header to try again with; null when there is none, or another scheme is asked for. */
  async answer({ sessionId, requestId, url }: PausedRequest, outcome: BridgeOutcome): Promise<string | null> {
    const challenge = challengeOf(outcome);
    if (challenge === null) return null;
    return await new Promise((resolve) => {
      const key = `${sessionId} ${requestId}`;
      const settle = (authorization: string | null) => {
        clearTimeout(timer);
        this.#asked.delete(key);
        resolve(authorization);
      };
      const timer = setTimeout(() => settle(null), ANSWER_TIMEOUT_MS);
      this.#asked.set(key, settle);
      const [, realm = ''] = /realm="([^"]*)"/i.exec(challenge) ?? [];
      const authChallenge = { source: 'Server', origin: new URL(url).origin, scheme: 'basic', realm };
      const params = { requestId, request: { url }, authChallenge };
      this.#link.deliver({ sessionId, method: 'Fetch.authRequired', params });
    });
  }

  /** Returns null for a command that is Playwright's answer to a question of ours. */
  onCommand(command: CdpMessage): CdpMessage | null {
    const { id, method, sessionId, params } = command;
    if (method !== 'Fetch.continueWithAuth') return command;
    const { requestId, authChallengeResponse } = fieldsOf<Protocol.Fetch.ContinueWithAuthRequest>(params);
    const settle = this.#asked.get(`${sessionId} ${requestId}`);
    if (!settle) return command;
    const { response, username, password } = fieldsOf<Protocol.Fetch.AuthChallengeResponse>(authChallengeResponse);
    settle(response === 'ProvideCredentials' ? basic(String(username), String(password)) : null);
    this.#link.deliver({ id, sessionId, result: {} });
    return null;
  }
}

/** What a server asks for; null where it asks for nothing, or in another way. */
function challengeOf(outcome: BridgeOutcome): string | null {
  if ('failure' in outcome || outcome.status !== 401) return null;
  const isBasic = ({ name, value }: { name: string; value: string }) =>
    /^www-authenticate$/i.test(name) && /^basic\b/i.test(value);
  return outcome.headers.find(isBasic)?.value ?? null;
}

function basic(username: string, password: string): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}
