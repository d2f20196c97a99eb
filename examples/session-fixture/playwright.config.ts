import { defineConfig } from '@playwright/test';
import { withHostedBrowsers } from 'poolwright';

const port = Number(process.env.PORT ?? 4174);

export default defineConfig(
  withHostedBrowsers(
    {
      testDir: './tests',
      outputDir: './test-results',
      use: { baseURL: `http://127.0.0.1:${port}` },
      webServer: { command: `node site.mjs ${port}`, port },
    },
    { session: { duration: 600, note: 'session-fixture example' } },
  ),
);
