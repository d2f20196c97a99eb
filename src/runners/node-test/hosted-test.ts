import type { Browser, BrowserContext, Page } from 'puppeteer-core';
import type { HostedSession } from '../../clients/shared/hosted-session.ts';

/** The hosted browser of a test. */
export interface HostedTest {
  /** Leased before the first test. The following tests use it, too. */
  readonly browser: Browser;
  /**
   * The test's own context, or the default one with its profile, depending on the option `context`. Subtests share it.
   */
  readonly context: BrowserContext;
  /** The first page of {@link context}. */
  readonly page: Page;
  /** Its session at the service, and what the test may ask of it. */
  readonly session: HostedSession;
}
