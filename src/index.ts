/** poolwright: Playwright Test on hosted browsers. */
export { expect, mergeExpects, mergeTests } from '@playwright/test';
export type { HostedSession } from './clients/shared/hosted-session.ts';
export {
  EmulatorError,
  LeaseError,
  OptionsError,
  PoolwrightError,
  type PoolwrightErrorCode,
  ServiceError,
  type ServiceErrorDetails,
} from './errors.ts';
export type { HostedOptions, ProjectHostedOptions, RunPoolOptions } from './options/schema/schema.ts';
export type { HostedBrowserAttachment } from './record/attachment.ts';
export { type HostedTestFixtures, type HostedWorkerOptions, test } from './runners/playwright-test/test.ts';
export { type HostedUse, withHostedBrowsers } from './runners/playwright-test/with-hosted-browsers.ts';
