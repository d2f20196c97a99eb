import { defineConfig, devices, type PlaywrightTestConfig } from '@playwright/test';
import { withHostedBrowsers } from 'poolwright';

/**
 * The compatibility suite, one way (COMPAT_WAY) at a time. `node scripts/compat.mjs` runs all of them and prints the
 * table.
 */

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
  webServer: {
    command: `${process.execPath} -e "require('http').createServer((_, res) => res.end('from the webServer')).listen(${process.env.COMPAT_WEB_PORT}, '127.0.0.1')"`,
    port: Number(process.env.COMPAT_WEB_PORT),
  },
  projects: [
    { name: 'setup', testMatch: /setup\.ts/ },
    { name: 'suite', dependencies: ['setup'], use: { ...devices['Desktop Chrome'] } },
  ],
};

const CONTEXTS = {
  isolated: 'isolated',
  ahead: 'isolated',
  relay: 'isolated',
  persistent: { mode: 'persistent', clear: true },
} as const;

export default defineConfig(
  way === 'isolated' || way === 'ahead' || way === 'relay' || way === 'persistent'
    ? withHostedBrowsers(config, { context: CONTEXTS[way] })
    : config,
);
