import { Hyperbrowser } from '@hyperbrowser/sdk';
import { defineProvider } from 'poolwright/provider';
import { refused } from './refused.ts';

const { sessions } = new Hyperbrowser({ apiKey: process.env.HYPERBROWSER_API_KEY, timeout: 60_000 });
const MINUTES = 60;

export default defineProvider({
  async acquire() {
    try {
      const { id, wsEndpoint } = await sessions.create({ timeoutMinutes: MINUTES });
      return { id, cdpUrl: wsEndpoint, expiresAt: new Date(Date.now() + MINUTES * 60_000) };
    } catch (error) {
      const running = async () => (await sessions.getActiveSessionsCount()).activeSessionsCount;
      throw await refused(Object(error).statusCode, error, running);
    }
  },
  async release(id) {
    const { status } = await sessions.get(id);
    if (status === 'active') await sessions.stop(id);
  },
});
