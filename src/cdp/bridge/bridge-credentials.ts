import type { CdpMessage } from '../transport/message.ts';
import type { BridgeOutcome } from './bridge-fetch.ts';
import type { PausedRequest } from './paused-request.ts';

/** Bound on Playwright's answer, in ms: it asks nobody. */
const ANSWER_TIMEOUT_MS = 10_000;

interface AnswerFields {
  requestId?: unknown;
  authChallengeResponse?: { response?: unknown; username?: unknown; password?: unknown };
}

/** Asks Playwright for `httpCredentials` when a carried request is answered 401, as the browser asks it for its own. */
export class BridgeCredentials {
  readonly #pass: (message: CdpMessage) => void;
  readonly #asked = new Map<string, (authorization: string | null) => void>();

  /** @param pass hands Playwright a message as if it came from the browser */
  constructor(pass: (message: CdpMessage) => void) {
    this.#pass = pass;
  }

  /** Value of the `Authorization` header to try again with; null when there is none, or another scheme is asked for. */
  async answer({ sessionId, requestId, url }: PausedRequest, outcome: BridgeOutcome): Promise<string | null> {
    if ('failure' in outcome || outcome.status !== 401) return null;
    const challenge = outcome.headers.find(
      ({ name, value }) => /^www-authenticate$/i.test(name) && /^basic\b/i.test(value),
    );
    if (!challenge) return null;
    return await new Promise((resolve) => {
      const key = `${sessionId} ${requestId}`;
      const settle = (authorization: string | null) => {
        clearTimeout(timer);
        this.#asked.delete(key);
        resolve(authorization);
      };
      const timer = setTimeout(() => settle(null), ANSWER_TIMEOUT_MS);
      this.#asked.set(key, settle);
      const [, realm = ''] = /realm="([^"]*)"/i.exec(challenge.value) ?? [];
      const authChallenge = { source: 'Server', origin: new URL(url).origin, scheme: 'basic', realm };
      this.#pass({ sessionId, method: 'Fetch.authRequired', params: { requestId, request: { url }, authChallenge } });
    });
  }

  /** Whether a command is Playwright's answer to a question of ours. */
  takes({ id, method, sessionId, params = {} }: CdpMessage): boolean {
    if (method !== 'Fetch.continueWithAuth') return false;
    const { requestId, authChallengeResponse }: AnswerFields = params;
    const settle = this.#asked.get(`${sessionId} ${requestId}`);
    if (!settle) return false;
    const { response, username, password } = authChallengeResponse ?? {};
    const basic = Buffer.from(`${username}:${password}`).toString('base64');
    settle(response === 'ProvideCredentials' ? `Basic ${basic}` : null);
    // Playwright looks for the answer after this call.
    setImmediate(() => this.#pass({ id, sessionId, result: {} }));
    return true;
  }
}
