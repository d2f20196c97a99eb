import { defineConfig } from '@playwright/test';
import { withHostedBrowsers } from 'poolwright';

const port = Number(process.env.PORT ?? 4182);
const profile = 'example-customer';

export default defineConfig(
  withHostedBrowsers({
    testDir: './tests',
    use: { baseURL: `http://127.0.0.1:${port}` },
    webServer: { command: `node site.mjs ${port}`, port },
    projects: [
      // Saves the profile when its browser ends, which is before the projects that depend on it begin.
      {
        name: 'login',
        testMatch: 'login.setup.ts',
        use: { hosted: { session: { profile: { name: profile, persist: true } } } },
      },
      // Each worker's browser has a copy of the profile. Without `persist`, what tests do to it is not kept.
      { name: 'account', dependencies: ['login'], use: { hosted: { session: { profile: { name: profile } } } } },
    ],
  }),
);
