import type { Browser, BrowserContext, Page } from 'puppeteer-core';
import type { HostedSession } from '../../../worker/hosted-session.ts';

/**
 * What tests have of their hosted browser as `this`, in files that name one of these in that way (`this.page`).
 * Reading one throws the error why no browser came, where none did.
 */
export interface HostedContext {
  /** The worker's, also for its next tests. */
  readonly browser: Browser;
  /** A context of the test's own, or the browser's with its profile, as the option `context` says. */
  readonly context: BrowserContext;
  /** The first page of {@link context}. */
  readonly page: Page;
  readonly hostedSession: HostedSession;
}

declare global {
  namespace Mocha {
    interface Context extends HostedContext {}
  }
}
