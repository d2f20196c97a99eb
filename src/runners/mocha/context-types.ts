import type { Browser, BrowserContext, Page } from 'puppeteer-core';
import type { HostedSession } from '../../clients/shared/hosted-session.ts';

/**
 * Properties of `this` in tests, in files that use one of them (`this.page`). If no browser was available, reading one
 * throws the reason.
 */
export interface HostedContext {
  /** The worker's browser. Its next tests use it, too. */
  readonly browser: Browser;
  /** The test's own context, or the browser's default context with its profile, depending on the option `context`. */
  readonly context: BrowserContext;
  /** The first page of {@link context}. */
  readonly page: Page;
  /** Its session at the service, and what the test may ask of it. */
  readonly hostedSession: HostedSession;
}

declare global {
  namespace Mocha {
    interface Context extends HostedContext {}
  }
}
