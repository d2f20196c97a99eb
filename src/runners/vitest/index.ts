/**
 * `poolwright/vitest`. Enable it with `globalSetup: 'poolwright/vitest'` in vitest.config. Tests that import `test`
 * from this module can use a hosted browser.
 */

export type { HostedSession } from '../../clients/shared/hosted-session.ts';
export { EmulatorError, LeaseError, OptionsError, PoolwrightError, ServiceError } from '../../errors.ts';
export type { HostedOptions } from '../../options/schema/schema.ts';
export type { HostedBrowserAttachment } from '../../record/attachment.ts';
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
