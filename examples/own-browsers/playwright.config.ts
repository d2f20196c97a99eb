import { defineConfig } from '@playwright/test';
import { withHostedBrowsers } from 'poolwright';

export default defineConfig(
  withHostedBrowsers(
    { testDir: './tests', outputDir: './test-results', fullyParallel: true, workers: 2 },
    { provider: './browsers.mjs' },
  ),
);
