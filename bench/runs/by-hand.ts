import { startOwnChromiums } from '../surroundings/own-chromium.ts';
import { nothing, type Side } from './side.ts';

/** The sides without poolwright. */

const plainConfig = () => 'export default defineConfig(config);';

const localLaunch = {
  fixtures: null,
  config: () =>
    'export default defineConfig({ ...config, use: { ...config.use, launchOptions: { executablePath: process.env.BENCH_CHROMIUM } } });',
  prepare: async () => nothing(),
  wrongBrowser: () => null,
};

export const local: Side = { ...localLaunch, name: 'local', title: 'local' };

/** What differs between this and `local` is the machine's noise. */
export const localAgain: Side = { ...localLaunch, name: 'again', title: 'local, again' };

/** A session for each worker, as users write it. */
export const textbook: Side = {
  name: 'textbook',
  title: 'textbook',
  fixtures: `import { test as base, type Browser } from '@playwright/test';
export * from '@playwright/test';

const address = process.env.BENCH_SERVICE + '/v1/browser/session';
const headers = { authorization: 'Bearer ' + process.env.BENCH_KEY, 'content-type': 'application/json' };

export const test = base.extend<{}, { browser: Browser }>({
  browser: [
    async ({ playwright }, use) => {
      const answer = await fetch(address, { method: 'POST', headers, body: '{}' });
      if (!answer.ok) throw new Error('no session: ' + answer.status);
      const { sessionId, cdpUrl } = await answer.json();
      const browser = await playwright.chromium.connectOverCDP(cdpUrl);
      await use(browser);
      await browser.close();
      await fetch(address + '?sessionId=' + sessionId, { method: 'DELETE', headers });
    },
    { scope: 'worker', timeout: 0 },
  ],
});
`,
  config: plainConfig,
  prepare: async ({ emulator }) => nothing({ BENCH_SERVICE: emulator.baseURL, BENCH_KEY: emulator.apiKey }),
  wrongBrowser: () => null,
};

const connected = {
  fixtures: `import { test as base, type Browser } from '@playwright/test';
export * from '@playwright/test';

export const test = base.extend<{}, { browser: Browser }>({
  browser: [
    async ({ playwright }, use, { parallelIndex }) => {
      const browser = await playwright.chromium.connectOverCDP(JSON.parse(process.env.BENCH_CDP_URLS!)[parallelIndex]);
      await use(browser);
      await browser.close();
    },
    { scope: 'worker', timeout: 0 },
  ],
});
`,
  config: plainConfig,
  wrongBrowser: () => null,
};

/** Browsers that are there before the run and after it: less cannot be done with a remote browser. */
export const floor: Side = {
  ...connected,
  name: 'floor',
  title: 'floor',
  prepare: async ({ emulator, workers }) => {
    const { client } = emulator;
    const sessions = await Promise.all(Array.from({ length: workers }, () => client.createSession()));
    return {
      env: { BENCH_CDP_URLS: JSON.stringify(sessions.map(({ cdpUrl }) => cdpUrl)) },
      remove: async () => {
        for (const { sessionId } of sessions) await client.stopSession(sessionId);
      },
    };
  },
};

/** The same without the emulator: at the browsers' own ports. */
export const port: Side = {
  ...connected,
  name: 'port',
  title: 'floor, own ports',
  prepare: async ({ chromium, workers }) => {
    const { addresses, remove } = await startOwnChromiums(chromium, workers);
    return { env: { BENCH_CDP_URLS: JSON.stringify(addresses) }, remove };
  },
};
