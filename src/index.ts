/** poolwright: Playwright Test on hosted browsers. */
export { expect, mergeExpects, mergeTests } from '@playwright/test';
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
export { type HostedUse, withHostedBrowsers } from './playwright/config/with-hosted-browsers.ts';
export { type HostedTestFixtures, type HostedWorkerOptions, test } from './playwright/test.ts';
export type { HostedBrowserAttachment } from './record/attachment.ts';
export type { HostedSession } from './worker/hosted-session.ts';
