import { defineConfig } from '@playwright/test';
import { withHostedBrowsers } from 'poolwright';

const port = Number(process.env.PORT ?? 4185);

export default defineConfig(
  withHostedBrowsers({
    testDir: './tests',
    workers: 2,
    fullyParallel: true,
    retries: 1, // for the one fault that no retry of a request mends: a browser that crashes in mid-test
    use: { baseURL: `http://127.0.0.1:${port}` },
    webServer: { command: `node site.mjs ${port}`, port },
  }),
);
