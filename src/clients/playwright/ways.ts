import type { Browser, BrowserType } from '@playwright/test';
import type { OpenedConnection, Opening } from '../shared/connection/connect-through.ts';

/** Another way from Playwright to a browser than CDP from this process, at an address that an option has. */
export interface Way {
  /**
   * Checks, before any browser is requested, that the address serves this Playwright.
   * @throws OptionsError, LeaseError
   */
  check(address: string, playwright: string): Promise<void>;
  /** @throws OptionsError; LeaseError from `connect` */
  open(chromium: BrowserType, address: string, opening: Opening): Promise<OpenedConnection<Browser>>;
}

/** One line each, by the names of their options. */
export const WAYS: Readonly<Record<string, () => Promise<Way>>> = {
  relay: () => import('./relay/open-through-relay.ts'),
};
