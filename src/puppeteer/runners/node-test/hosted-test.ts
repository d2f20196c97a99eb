import type { Browser, BrowserContext, Page } from 'puppeteer-core';
import type { HostedSession } from '../../../worker/hosted-session.ts';

/** What a test has of its hosted browser. */
export interface HostedTest {
  /** Leased before the first test, and the same for the next ones. */
  readonly browser: Browser;
  /** A context of the test's own, or the browser's with its profile, as the option `context` says. Its subtests share it. */
  readonly context: BrowserContext;
  /** The first page of {@link context}. */
  readonly page: Page;
  readonly session: HostedSession;
}
