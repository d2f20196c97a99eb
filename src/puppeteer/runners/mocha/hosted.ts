import type { Browser, BrowserContext, Page } from 'puppeteer-core';
import type { HostedSession } from '../../../worker/hosted-session.ts';
import { mochaProcess } from './mocha-process.ts';

/**
 * The hosted browser of the running test, for arrow functions. Leased when it is first asked for; the wait for it does not
 * count as the test's. In a `before` hook: of all tests of that outermost `describe`, until its end.
 * Each rejects with LeaseError or ServiceError when no browser comes, with OptionsError where poolwright is not set up.
 */
export interface Hosted {
  /** The worker's, also for its next tests. */
  browser(): Promise<Browser>;
  /** A context of the test's own, or the browser's with its profile, as the option `context` says. */
  context(): Promise<BrowserContext>;
  /** The context's first page, the same one each time. */
  page(): Promise<Page>;
  /** The session that serves the test. */
  session(): Promise<HostedSession>;
}

/** The running test's hosted browser: see {@link Hosted}. */
export const hosted: Hosted = {
  browser: async () => (await mochaProcess().serve()).browser,
  context: async () => (await mochaProcess().serve()).context,
  page: async () => await (await mochaProcess().serve()).page(),
  session: async () => (await mochaProcess().serve()).session,
};
