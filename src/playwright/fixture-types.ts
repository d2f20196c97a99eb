import type { PlaywrightTestOptions } from '@playwright/test';

/** What the fixtures take and give. */

export type Use<T> = (value: T) => Promise<void>;

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
