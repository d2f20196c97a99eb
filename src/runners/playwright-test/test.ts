import {
  test as base,
  type PlaywrightTestArgs,
  type PlaywrightTestOptions,
  type PlaywrightWorkerArgs,
  type PlaywrightWorkerOptions,
  type TestType,
  type WorkerInfo,
} from '@playwright/test';
import type { HostedSession } from '../../clients/shared/hosted-session.ts';
import { OptionsError } from '../../errors.ts';
import type { HostedOptions } from '../../options/schema/schema.ts';
import { asMerged, isLocal } from './config/merged-options.ts';
import type { WorkerProject } from './setup/worker-broker.ts';

/** Loaded when a fixture runs: test files load this one in the runner, too. */
const loadFixtures = () => import('./worker-fixtures.ts');

/** Test-scoped fixtures that poolwright's `test` adds. */
export interface HostedTestFixtures {
  /** The session whose browser the test uses. */
  hostedSession: HostedSession;
}

/** Worker-scoped options that poolwright's `test` adds. */
export interface HostedWorkerOptions {
  /** Options of the project; `false` keeps it on a local browser. */
  hosted: HostedOptions | false;
}

/**
 * Declared here, because the published types would otherwise import `playwright/test`, which is not a peer dependency.
 */
type HostedTest = TestType<
  PlaywrightTestArgs & PlaywrightTestOptions & HostedTestFixtures,
  PlaywrightWorkerArgs & PlaywrightWorkerOptions & HostedWorkerOptions
>;

// An override of an option must declare `option` again: Playwright 1.60 rejects a config that sets it otherwise. The
// types allow this only for new fixtures.
const TEST_OPTION = { scope: 'test', option: true } as { scope: 'test' };
const WORKER_OPTION = { scope: 'worker', option: true } as { scope: 'worker' };

function projectOf(hosted: HostedOptions, { project: { name } }: WorkerInfo): WorkerProject {
  return { id: name, name, options: asMerged(hosted, 'use.hosted'), wrapped: false };
}

/** Rejects a project that cannot run on a hosted browser, before a browser is requested. */
function assertChromium(browserName: string, project: string): void {
  if (browserName === 'chromium') return;
  throw new OptionsError(
    'use.hosted',
    `Project "${project}" uses ${browserName}, but hosted browsers are Chromium. Set \`use: { hosted: false }\` there, or use chromium.`,
  );
}

/**
 * Playwright's `test` on hosted browsers, with the fixture `hostedSession`. Works with and without
 * `withHostedBrowsers`, and in `mergeTests`.
 */
export const test: HostedTest = base.extend<HostedTestFixtures, HostedWorkerOptions>({
  hosted: [{}, { scope: 'worker', option: true }],

  // If the config sets `connectOptions`, its fixture replaces this one, which does the same.
  connectOptions: [
    async ({ playwright, hosted, browserName }, use, workerInfo) => {
      if (hosted === false || isLocal(hosted)) return await use(undefined);
      assertChromium(browserName, workerInfo.project.name);
      const { provideHostedBrowser } = await loadFixtures();
      await provideHostedBrowser(playwright.chromium, projectOf(hosted, workerInfo), use, workerInfo);
    },
    WORKER_OPTION,
  ],

  channel: [
    async ({ playwright: { chromium }, launchOptions, channel, hosted }, use, workerInfo) => {
      if (hosted === false || isLocal(hosted)) return await use(channel);
      const { hostLaunches } = await loadFixtures();
      await hostLaunches({ chromium, launchOptions, channel }, projectOf(hosted, workerInfo), use, workerInfo);
    },
    WORKER_OPTION,
  ],

  // Playwright sets up both options around every test; see the config wrapper.
  contextOptions: [
    async ({ contextOptions, hosted }, use, testInfo) => {
      if (isLocal(hosted)) return await use(contextOptions);
      await (await loadFixtures()).recordTest(contextOptions, use, testInfo);
    },
    TEST_OPTION,
  ],
  serviceWorkers: [
    async (
      {
        serviceWorkers,
        contextOptions,
        clientCertificates,
        colorScheme,
        deviceScaleFactor,
        hasTouch,
        httpCredentials,
        isMobile,
        locale,
        proxy,
        timezoneId,
        userAgent,
        viewport,
        hosted,
        playwright,
      },
      use,
      testInfo,
    ) => {
      if (isLocal(hosted)) return await use(serviceWorkers);
      const emulation = { colorScheme, deviceScaleFactor, hasTouch, isMobile, locale, timezoneId, userAgent, viewport };
      const others = { clientCertificates, httpCredentials, proxy, contextOptions, chromium: playwright.chromium };
      await (await loadFixtures()).recordTestWith({ ...emulation, ...others }, serviceWorkers, use, testInfo);
    },
    TEST_OPTION,
  ],

  hostedSession: async ({ browser: _leased }, use) => {
    await use(await (await loadFixtures()).currentSession());
  },
});
