const LIST = `async list() {
    const lists = await Promise.all(['active', 'starting'].map((status) => call('GET', 'sessions?status=' + status)));
    return lists.flatMap(({ sessions }) => sessions).map(({ sessionId, note }) => ({ id: sessionId, label: note }));
  },`;

/**
 * The file of a user's provider. It gets its browsers from the service of the test, which thus sees what is left.
 * `file`, `acquire` and `release` are statements for these places.
 */
export const providerFile = ({
  file = '',
  acquire = '',
  release = '',
  limit = 2 as number | null,
  lists = true,
} = {}) => `
import { defineProvider, ProviderError } from 'poolwright/provider';

interface Session { sessionId: string; cdpUrl: string; note: string; bandwidthBytes?: number }

const CODES = { 401: 'UNAUTHORIZED', 402: 'OUT_OF_CREDIT', 403: 'LIMIT_REACHED', 429: 'CAPACITY', 503: 'CAPACITY' } as const;

async function call(method: string, path: string, body?: object, signal?: AbortSignal) {
  const response = await fetch(process.env.POOLWRIGHT_BASE_URL + '/v1/browser/' + path, {
    method,
    headers: { authorization: 'Bearer ' + process.env.POOLWRIGHT_API_KEY, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
    ...(signal && { signal }),
  });
  // A browser that has ended already.
  if (method === 'DELETE' && response.status === 404) return {} as Session & { sessions: Session[] };
  if (!response.ok) {
    const code = CODES[response.status as keyof typeof CODES] ?? 'UNAVAILABLE';
    const retryAfterMs = 1000 * Number(response.headers.get('retry-after') ?? 0);
    throw new ProviderError(code, response.status + ' ' + (await response.text()), { retryAfterMs });
  }
  return (await response.json()) as Session & { sessions: Session[] };
}

${file}

export default defineProvider({
  async acquire({ label, project, signal }) {
    ${acquire}
    const { sessionId, cdpUrl } = await call('POST', 'session', { note: label }, signal);
    console.log('ACQUIRED for [' + project + '] ' + signal.aborted);
    const expiresAt = new Date(Date.now() + 600_000);
    return { id: sessionId, cdpUrl, expiresAt, headers: { 'x-key': 's3cret-word' } };
  },
  async release(id, reason) {
    ${release}
    await call('DELETE', 'session?sessionId=' + id);
    console.log('RELEASED ' + reason);
  },
  ${lists ? LIST : ''}
  async usage(id) {
    return (await call('GET', 'session?sessionId=' + id)).bandwidthBytes ?? null;
  },
  limit: async () => ${limit},
});
`;
