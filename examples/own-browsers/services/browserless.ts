import { randomUUID } from 'node:crypto';
import { defineProvider, ProviderError } from 'poolwright/provider';

/** Your Browserless server. It starts a browser for each connection; the address gives it an ID and the label. */

const server = process.env.BROWSERLESS_URL ?? 'http://localhost:3000';
const token = process.env.BROWSERLESS_TOKEN ?? '';
const MINUTES = 60;

interface Responses {
  pressure: { pressure: { running: number; maxConcurrent: number } };
  sessions: { type: string; trackingId: string | null; initialConnectURL: string }[];
}

const acquired = new Set<string>();

export default defineProvider({
  async acquire({ label, signal }) {
    const { running, maxConcurrent } = (await call('pressure', signal)).pressure;
    // Some may not have been connected to yet.
    if (Math.max(running, acquired.size) >= maxConcurrent)
      throw new ProviderError('LIMIT_REACHED', `${maxConcurrent} browsers run, which is CONCURRENT of Browserless`);
    const id = randomUUID().replaceAll('-', '');
    const url = new URL('/chromium', server.replace(/^http/, 'ws'));
    const launch = JSON.stringify({ args: [`--poolwright-label=${label}`] });
    url.search = String(new URLSearchParams({ token, trackingId: id, timeout: `${MINUTES * 60_000}`, launch }));
    acquired.add(id);
    return { id, cdpUrl: url.href, expiresAt: new Date(Date.now() + MINUTES * 60_000) };
  },
  async release(id) {
    await send(`kill/${id}`);
    acquired.delete(id);
  },
  async list() {
    return (await call('sessions'))
      .filter(({ type, trackingId }) => type === 'browser' && trackingId)
      .map(({ trackingId, initialConnectURL }) => ({
        id: trackingId ?? '',
        label: /--poolwright-label=([^"]*)/.exec(new URL(initialConnectURL).searchParams.get('launch') ?? '')?.[1],
      }));
  },
  limit: async () => (await call('pressure')).pressure.maxConcurrent,
});

async function call<P extends keyof Responses>(path: P, signal?: AbortSignal): Promise<Responses[P]> {
  return (await (await send(path, signal)).json()) as Responses[P];
}

async function send(path: string, signal?: AbortSignal): Promise<Response> {
  const response = await fetch(new URL(`${path}?token=${encodeURIComponent(token)}`, server), { signal });
  if (response.status === 401) throw new ProviderError('UNAUTHORIZED', 'BROWSERLESS_TOKEN is not valid');
  const hasEnded = path.startsWith('kill/') && response.status === 404;
  if (!response.ok && !hasEnded)
    throw new ProviderError('UNAVAILABLE', `Browserless responds with ${response.status} to ${path}`);
  return response;
}
