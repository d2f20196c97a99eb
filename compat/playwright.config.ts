import { defineConfig, devices, type PlaywrightTestConfig } from '@playwright/test';
import { withHostedBrowsers } from 'poolwright';

/** The compatibility suite, one way (COMPAT_WAY) at a time. `npm run compat` runs all of them and prints the table. */

const way = process.env.COMPAT_WAY;
const config: PlaywrightTestConfig = {
  testDir: './suite',
  outputDir: process.env.COMPAT_OUTPUT,
  workers: 1,
  retries: 0,
  timeout: 30_000,
  reporter: [['json']],
  snapshotPathTemplate: '{testDir}/../snapshots/{arg}{ext}',
  use: {
    baseURL: process.env.COMPAT_SITE,
    trace: 'on',
    screenshot: 'only-on-failure',
    video: 'off',
    ...(way === 'local' && {
      launchOptions: { executablePath: process.env.COMPAT_CHROMIUM, args: ['--no-sandbox'] },
    }),
  },
  projects: [
    { name: 'setup', testMatch: /setup\.ts/ },
    { name: 'suite', dependencies: ['setup'], use: { ...devices['Desktop Chrome'] } },
  ],
};

export default defineConfig(way === 'poolwright' ? withHostedBrowsers(config) : config);
