import { defineConfig, devices } from '@playwright/test';
import { withHostedBrowsers } from 'poolwright';

const port = Number(process.env.SITE_PORT ?? 4173);

export default defineConfig(
  withHostedBrowsers(
    {
      testDir: './tests',
      outputDir: './test-results',
      fullyParallel: true,
      reporter: [
        ['list'],
        ['html', { open: 'never', outputFolder: 'playwright-report' }],
        ['json', { outputFile: 'test-results/report.json' }],
      ],
      use: {
        baseURL: `http://127.0.0.1:${port}`,
        trace: 'retain-on-failure',
        screenshot: 'only-on-failure',
      },
      webServer: { command: `node ../site/server.mjs --port ${port}`, port, reuseExistingServer: false },
      projects: [
        // Leases warm browsers from the pool below.
        { name: 'pool', use: { ...devices['Desktop Chrome'] } },
        // Creates a session for each worker.
        { name: 'session', use: { hosted: { session: { type: 'hosted_stealth' } } } },
      ],
    },
    // A pool made for this run and deleted after it. In your suite, rather: `pool: 'pool_e2e'`.
    { pool: { create: {} }, fallback: 'session' },
  ),
);
