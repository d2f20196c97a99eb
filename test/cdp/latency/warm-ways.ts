import { test as base } from '@playwright/test';
import { openTransport } from '../../../src/cdp/pipeline.ts';
import { startEmulator } from '../../../src/emulator/index.ts';
import { connectWay, startGreeting, type Way } from '../../support/cdp/two-ways.ts';
import { Api } from '../../support/emulator/api.ts';

const ROUND_TRIP_MS = 10;

interface WarmWays {
  /** Address of the page with a button that shows a greeting. */
  greeting: string;
  plain: Way;
  ahead: Way;
}

/**
 * Two equally distant browsers per worker: plain, and with everything sent ahead that can be. Consecutive tests share
 * them, as in a run.
 */
export const test = base.extend<object, { warmWays: WarmWays }>({
  warmWays: [
    async ({}, use) => {
      const emulator = await startEmulator({ allowLoopback: true, rtt: ROUND_TRIP_MS });
      const api = new Api(emulator.baseURL, emulator.apiKey);
      const greeting = await startGreeting();
      const connect = async (name: Way['name']) =>
        await connectWay(name, (await api.create()).body.cdpUrl, openTransport);
      const [plain, ahead] = await Promise.all([connect('plain'), connect('ahead')]);
      await use({ greeting: greeting.url, plain, ahead });
      await Promise.all([plain.browser.close(), ahead.browser.close()]);
      greeting.close();
      await emulator.stop();
    },
    { scope: 'worker' },
  ],
});

export { expect } from '@playwright/test';
