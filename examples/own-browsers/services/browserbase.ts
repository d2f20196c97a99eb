import Browserbase from '@browserbasehq/sdk';
import { defineProvider } from 'poolwright/provider';
import { refused } from './refused.ts';

// The run repeats requests itself: a repeated one could start a second browser.
const { sessions } = new Browserbase({ apiKey: process.env.BROWSERBASE_API_KEY, maxRetries: 0 });
const running = () => sessions.list({ status: 'RUNNING' });

export default defineProvider({
  async acquire({ label, signal }) {
    // With `keepAlive` (paid plans), a lost connection does not end the browser.
    const settings = { userMetadata: { label }, api_timeout: 3600, keepAlive: true };
    try {
      const { id, connectUrl, expiresAt } = await sessions.create(settings, { signal });
      return { id, cdpUrl: connectUrl, expiresAt };
    } catch (error) {
      throw await refused(Object(error).status, error, async () => (await running()).length);
    }
  },
  async release(id) {
    const { status } = await sessions.retrieve(id);
    if (status === 'RUNNING' || status === 'PENDING') await sessions.update(id, { status: 'REQUEST_RELEASE' });
  },
  async list() {
    return (await running()).map(({ id, userMetadata }) => ({ id, label: String(userMetadata?.label ?? '') }));
  },
});
