import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    globalSetup: ['poolwright/vitest', './site.js'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    maxWorkers: 2, // a browser for each
  },
});
