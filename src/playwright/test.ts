import {
  test as base,
  type PlaywrightTestArgs,
  type PlaywrightTestOptions,
  type PlaywrightWorkerArgs,
  type PlaywrightWorkerOptions,
  type TestType,
} from '@playwright/test';
import type { HostedOptions } from '../options/schema/schema.ts';
import type { HostedSession } from '../worker/hosted-session.ts';
import { asMerged, isLocal } from './config/merged-options.ts';
import { assertChromium, presentSession, provideHostedBrowser, recordTest, recordTestWith } from './fixtures.ts';

/** Test-scoped fixtures that poolwright's `test` adds. */
export interface HostedTestFixtures {
  /** The session that serves the test. */
  hostedSession: HostedSession;
}

/** Worker-scoped options that poolwright's `test` adds. */
export interface HostedWorkerOptions {
  /** Options of the project; `false` keeps it on a local browser. */
  hosted: HostedOptions | false;
}

/** Named here: the published types would otherwise import `playwright/test`, which is no peer dependency of ours. */
type HostedTest = TestType<
  PlaywrightTestArgs & PlaywrightTestOptions & HostedTestFixtures,
  PlaywrightWorkerArgs & PlaywrightWorkerOptions & HostedWorkerOptions
>;

// An overridden option stays one, and has to say so: Playwright 1.60 refuses a config that sets it otherwise. The types
// know this for new fixtures only.
const TEST_OPTION = { scope: 'test', option: true } as { scope: 'test' };
const WORKER_OPTION = { scope: 'worker', option: true } as { scope: 'worker' };

/**
 * Playwright's `test` on hosted browsers, with the session in hand. Works with and without `withHostedBrowsers`, and in
 * `mergeTests`.
 */
export const test: HostedTest = base.extend<HostedTestFixtures, HostedWorkerOptions>({
  hosted: [{}, { scope: 'worker', option: true }],

  // The config's own `connectOptions` takes the place of this one, which would be the same fixture a second time.
  connectOptions: [
    async ({ playwright, hosted, browserName }, use, workerInfo) => {
      if (hosted === false || isLocal(hosted)) return await use(undefined);
      assertChromium(browserName, workerInfo.project.name);
      const { name } = workerInfo.project;
      const project = { id: name, name, options: asMerged(hosted, 'use.hosted'), wrapped: false };
      await provideHostedBrowser(playwright.chromium, project, use, workerInfo);
    },
    WORKER_OPTION,
  ],

  // Two options that Playwright asks for around every test; see the config wrapper.
  contextOptions: [
    async ({ contextOptions, hosted }, use, testInfo) => {
      if (isLocal(hosted)) return await use(contextOptions);
      await recordTest(contextOptions, use, testInfo);
    },
    TEST_OPTION,
  ],
  serviceWorkers: [
    async (
      {
        serviceWorkers,
        contextOptions,
        colorScheme,
        deviceScaleFactor,
        hasTouch,
        httpCredentials,
        isMobile,
        locale,
        timezoneId,
        userAgent,
        viewport,
        hosted,
      },
      use,
      testInfo,
    ) => {
      if (isLocal(hosted)) return await use(serviceWorkers);
      const emulation = { colorScheme, deviceScaleFactor, hasTouch, isMobile, locale, timezoneId, userAgent, viewport };
      await recordTestWith({ ...emulation, httpCredentials, contextOptions }, serviceWorkers, use, testInfo);
    },
    TEST_OPTION,
  ],

  hostedSession: async ({ browser: _leased }, use) => {
    await use(await presentSession());
  },
});
