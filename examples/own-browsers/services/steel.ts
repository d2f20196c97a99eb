import { randomUUID } from 'node:crypto';
import { defineProvider } from 'poolwright/provider';
import Steel from 'steel-sdk';
import { refused } from './refused.ts';

// The run repeats requests itself: a repeated one could start a second browser.
const { sessions } = new Steel({ steelAPIKey: process.env.STEEL_API_KEY, maxRetries: 0 });
const MINUTES = 15; // the most that a small plan allows

export default defineProvider({
  async acquire({ signal }) {
    const id = randomUUID();
    try {
      const session = await sessions.create({ sessionId: id, timeout: MINUTES * 60_000 }, { signal });
      const cdpUrl = new URL(session.websocketUrl);
      cdpUrl.searchParams.set('apiKey', process.env.STEEL_API_KEY ?? '');
      return { id, cdpUrl: cdpUrl.href, expiresAt: new Date(Date.parse(session.createdAt) + session.timeout) };
    } catch (error) {
      const { status } = Object(error);
      // Sessions have no labels: one whose response was lost is found by the ID that it was given.
      if (status === undefined || status >= 500) await sessions.release(id).catch(() => undefined);
      const running = async () => (await sessions.list({ status: 'live' })).sessions.length;
      throw await refused(status, error, running);
    }
  },
  async release(id) {
    const { status } = await sessions.retrieve(id);
    if (status === 'live') await sessions.release(id);
  },
});
