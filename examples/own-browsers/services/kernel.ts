import Kernel from '@onkernel/sdk';
import { defineProvider } from 'poolwright/provider';
import { refused } from './refused.ts';

// The run repeats requests itself: a repeated one could start a second browser.
const { browsers } = new Kernel({ apiKey: process.env.KERNEL_API_KEY, maxRetries: 0 });

async function list() {
  const listed = [];
  for await (const { session_id, tags } of browsers.list()) listed.push({ id: session_id, label: tags?.label });
  return listed;
}

export default defineProvider({
  async acquire({ label, signal }) {
    // It ends after 600 s without a connection.
    const settings = { tags: { label }, headless: true, timeout_seconds: 600 };
    try {
      const { session_id, cdp_ws_url } = await browsers.create(settings, { signal });
      return { id: session_id, cdpUrl: cdp_ws_url };
    } catch (error) {
      throw await refused(Object(error).status, error, async () => (await list()).length);
    }
  },
  async release(id) {
    await browsers.deleteByID(id).catch((error) => {
      if (error.status !== 404) throw error;
    });
  },
  list,
});
