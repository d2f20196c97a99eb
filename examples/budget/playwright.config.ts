import { defineConfig } from '@playwright/test';
import { withHostedBrowsers } from 'poolwright';

const port = Number(process.env.PORT ?? 4184);

export default defineConfig(
  withHostedBrowsers(
    {
      testDir: './tests',
      fullyParallel: true,
      workers: 3, // a browser for each
      use: { baseURL: `http://127.0.0.1:${port}` },
      webServer: { command: `node site.mjs ${port}`, port },
    },
    { budget: { sessions: 2, bandwidthMB: 50, costCents: 100 } },
  ),
);
