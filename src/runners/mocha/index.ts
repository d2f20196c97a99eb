/**
 * `poolwright/mocha`. Enable it with `"require": ["poolwright/mocha"]` in .mocharc.json. Tests use `this.page` and the
 * like; in arrow functions they use `hosted` from this module.
 */

import type { Browser, BrowserContext, Page } from 'puppeteer-core';
import type { HostedSession } from '../../clients/shared/hosted-session.ts';
import { mochaProcess } from './mocha-process.ts';

export type { HostedSession } from '../../clients/shared/hosted-session.ts';
export { EmulatorError, LeaseError, OptionsError, PoolwrightError, ServiceError } from '../../errors.ts';
export type { HostedOptions } from '../../options/schema/schema.ts';
export { mochaGlobalSetup, mochaGlobalTeardown } from './global-fixtures.ts';
export type { HostedContext } from './root-hooks.ts';
export { mochaHooks } from './root-hooks.ts';

/**
 * The hosted browser of the running test, for arrow functions. Leased on first use; the wait does not count towards the
 * test's timeout. In a `before` hook, all tests of the outermost `describe` share it. Each method rejects with
 * LeaseError or ServiceError when no browser is available, and with OptionsError when poolwright is not set up.
 */
export interface Hosted {
  /** The worker's browser. Its next tests use it, too. */
  browser(): Promise<Browser>;
  /** The test's own context, or the browser's default context with its profile, depending on the option `context`. */
  context(): Promise<BrowserContext>;
  /** The context's first page, the same one on every call. */
  page(): Promise<Page>;
  /** The session whose browser the test uses. */
  session(): Promise<HostedSession>;
}

/** The running test's hosted browser: see {@link Hosted}. */
export const hosted: Hosted = {
  browser: async () => (await mochaProcess().open()).browser,
  context: async () => (await mochaProcess().open()).context,
  page: async () => await (await mochaProcess().open()).page(),
  session: async () => (await mochaProcess().open()).session,
};
