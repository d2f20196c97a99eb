import { defineConfig } from '@playwright/test';
import { withHostedBrowsers } from 'poolwright';

export default defineConfig(
  withHostedBrowsers(
    {
      testDir: './tests',
      fullyParallel: true,
      forbidOnly: !!process.env.CI,
      // Each shard leaves a blob, and the job `report` merges them.
      reporter: process.env.CI ? [['line'], ['blob']] : 'html',
    },
    {
      // A pull request from a fork has no secrets: it runs on Chromium of the CI's machine. Everybody else needs the key.
      service: process.env.RUN_ON_EMULATOR === 'true' ? 'emulator' : 'hosted',
      pool: { create: {} },
    },
  ),
);
