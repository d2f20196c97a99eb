import { defineConfig } from '@playwright/test';
import { withHostedBrowsers } from 'poolwright';

const port = Number(process.env.PORT ?? 4183);

export default defineConfig(
  withHostedBrowsers({
    testDir: './tests',
    // On loopback: remote browsers reach it through this machine, its WebSocket too. There is nothing to set.
    use: { baseURL: `http://127.0.0.1:${port}` },
    webServer: { command: `vite --host 127.0.0.1 --port ${port} --strictPort`, port, reuseExistingServer: true },
  }),
);
