import type { PlaywrightTestOptions } from '@playwright/test';

/** Input and output types of the fixtures. */

export type Use<T> = (value: T) => Promise<void>;

/** Options of `use` that a hosted browser may have to change. */
export type ContextUse = Pick<
  PlaywrightTestOptions,
  | 'clientCertificates'
  | 'colorScheme'
  | 'contextOptions'
  | 'deviceScaleFactor'
  | 'hasTouch'
  | 'httpCredentials'
  | 'isMobile'
  | 'locale'
  | 'proxy'
  | 'timezoneId'
  | 'userAgent'
  | 'viewport'
>;
