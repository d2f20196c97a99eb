import { defineConfig } from '@playwright/test';
import { withHostedBrowsers } from 'poolwright';
import { MARKETS } from './markets.ts';

const port = Number(process.env.PORT ?? 4181);
const TYPES = ['hosted', 'hosted_stealth', 'hosted_privacy'] as const;

export default defineConfig(
  withHostedBrowsers(
    {
      testDir: './tests',
      use: { baseURL: `http://127.0.0.1:${port}` },
      webServer: { command: `node site.mjs ${port}`, port },
      projects: MARKETS.flatMap((market) =>
        TYPES.map((type) => ({
          name: `${market.country} ${type}`,
          metadata: market,
          use: { hosted: { session: { country: market.country, type } } },
        })),
      ),
    },
    // The country's language on every type: Playwright's own `en-US` would go over it on plain `hosted` browsers.
    { identity: 'keep' },
  ),
);
