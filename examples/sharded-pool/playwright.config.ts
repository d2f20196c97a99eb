import { defineConfig } from '@playwright/test';
import { withHostedBrowsers } from 'poolwright';

export default defineConfig(
  withHostedBrowsers(
    {
      testDir: './tests',
      workers: 1, // of each shard: as many browsers as shards, which is the pool's size
      reporter: [['list'], ['blob']],
      use: { baseURL: process.env.SITE_URL },
    },
    // The pool is the one in POOLWRIGHT_POOL. All browsers out on lease: wait for one, create none beside it.
    { fallback: 'fail' },
  ),
);
