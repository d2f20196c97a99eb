import type { PlaywrightTestOptions } from '@playwright/test';
import type { BrowserIdentity } from '../common/browser-identity.ts';

/** What the fixtures take and give. */

export type Use<T> = (value: T) => Promise<void>;

/** The session that serves the running test. */
export interface HostedSession extends BrowserIdentity {
  /** ISO 8601: when this run got it. */
  startedAt: string;
  /** ISO 8601: when the service will end it. */
  expiresAt: string;
  /** Whether another worker of this run used it before. */
  reused: boolean;
}

/** The options of `use` that a hosted browser may not take as they are. */
export type ContextUse = Pick<
  PlaywrightTestOptions,
  | 'colorScheme'
  | 'contextOptions'
  | 'deviceScaleFactor'
  | 'hasTouch'
  | 'httpCredentials'
  | 'isMobile'
  | 'locale'
  | 'timezoneId'
  | 'userAgent'
  | 'viewport'
>;
