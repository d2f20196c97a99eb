import type { Browser, BrowserType } from '@playwright/test';
import type { HostedSession } from '../shared/hosted-session.ts';
import { type LeaseOptions as CommonOptions, leaseOne } from '../shared/lease-one.ts';
import { browserHandle } from './browser-handle.ts';
import { connectPlaywright } from './connection.ts';
import { loadPlaywright } from './load-playwright.ts';

/** `poolwright/playwright-library`: hosted browsers for Playwright without its test runner. */
export { EmulatorError, LeaseError, OptionsError, PoolwrightError, ServiceError } from '../../errors.ts';
export type { HostedOptions } from '../../options/schema/schema.ts';
export type { HostedSession } from '../shared/hosted-session.ts';

/** Options of {@link leaseBrowser}: those of `withHostedBrowsers`, plus the browser type that connects. */
export interface LeaseOptions extends CommonOptions {
  /** Default: `chromium` of `playwright-core`, `playwright` or `@playwright/test`, the first that is installed. */
  chromium?: BrowserType;
}

/** A browser that is leased until it is released. */
export interface LeasedBrowser extends AsyncDisposable {
  /** `newContext()` opens contexts with the mode and identity of the options. `close()` also releases the browser. */
  readonly browser: Browser;
  /** The session that the browser belongs to. */
  readonly session: HostedSession;
  /** Gives the browser back. Calling it again has no effect. Never rejects. */
  release(): Promise<void>;
}

/**
 * Leases a hosted browser for Playwright, from a pool or from a session created for it. It is given back by
 * `release()`, at the end of an `await using` block, or when this process ends, even after a crash.
 *
 * @param options an unknown key is an error that names it and the most similar option
 * @throws OptionsError for an invalid option, or a missing key or address
 * @throws LeaseError `ACQUIRE_TIMEOUT`, `CONNECT_FAILED`; ServiceError when the service rejects the request. No browser
 * stays leased then.
 */
export async function leaseBrowser(options: LeaseOptions = {}): Promise<LeasedBrowser> {
  const { chromium = await loadInstalled(), ...given } = options;
  const { connection, ...leased } = await leaseOne(given, (lease, settings) =>
    connectPlaywright(chromium, lease, settings),
  );
  const browser = browserHandle(() => connection, {
    newContext: (given) => connection.newContext(given),
    close: leased.release,
  });
  return { browser, ...leased };
}

async function loadInstalled(): Promise<BrowserType> {
  return (await loadPlaywright(', or pass `leaseBrowser({ chromium })`')).chromium;
}
