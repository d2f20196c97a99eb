/**
 * `poolwright/vitest`: `globalSetup: 'poolwright/vitest'` in vitest.config turns it on, `import { test } from
 * 'poolwright/vitest'` brings a hosted browser into tests.
 */
export { EmulatorError, LeaseError, OptionsError, PoolwrightError, ServiceError } from '../../../errors.ts';
export type { HostedOptions } from '../../../options/schema/schema.ts';
export type { HostedBrowserAttachment } from '../../../record/attachment.ts';
export type { HostedSession } from '../../../worker/hosted-session.ts';
export { setUp as default } from './global-setup.ts';
export {
  afterAll,
  afterEach,
  assert,
  beforeAll,
  beforeEach,
  describe,
  expect,
  type HostedFixtures,
  it,
  onTestFailed,
  onTestFinished,
  suite,
  test,
} from './test.ts';
