import type { Browser, BrowserType } from '@playwright/test';
import { isMissingModule } from '../common/import-module.ts';
import { notify } from '../common/text/notify.ts';
import { OptionsError } from '../errors.ts';
import type { HostedSession } from '../worker/hosted-session.ts';
import { type LeaseOptions as CommonOptions, leaseOne } from '../worker/lease-one.ts';
import { connectToLease } from './browser/browser-connection.ts';

/** `poolwright/playwright-library`: hosted browsers for Playwright without its test runner. */
export { EmulatorError, LeaseError, OptionsError, PoolwrightError, ServiceError } from '../errors.ts';
export type { HostedOptions } from '../options/schema/schema.ts';
export type { HostedSession } from '../worker/hosted-session.ts';

/** Options of {@link leaseBrowser}: those of `withHostedBrowsers`, and what connects. */
export interface LeaseOptions extends CommonOptions {
  /** Default: that of `playwright-core`, else of `playwright` or `@playwright/test`, whichever is installed. */
  chromium?: BrowserType;
}

/** A browser that is leased until it is released. */
export interface LeasedBrowser extends AsyncDisposable {
  /** `newContext()` opens contexts in the mode and with the identity that the options say. Its `close()` releases it, too. */
  readonly browser: Browser;
  /** The session behind it. */
  readonly session: HostedSession;
  /** Gives the browser back. Called again it does nothing more. Never rejects. */
  release(): Promise<void>;
}

/**
 * Leases a hosted browser for Playwright: from a pool, or a session created for it. It is given back by `release()`, at
 * the end of an `await using` block, or when this process ends, however it dies.
 *
 * @param options an unknown key is an error that names it and the nearest known one
 * @throws OptionsError for a wrong option, or a key or address that is missing
 * @throws LeaseError `ACQUIRE_TIMEOUT`, `CONNECT_FAILED`; ServiceError when the service refuses: no browser is held then
 */
export async function leaseBrowser(options: LeaseOptions = {}): Promise<LeasedBrowser> {
  const { chromium = await loadChromium(), ...given } = options;
  const { link, session, release } = await leaseOne(given, (settings, lease, events) =>
    connectToLease(chromium, lease, { ...settings, ...events, onNote: notify, onUnreached: () => undefined }),
  );
  const own: Partial<Browser> = {
    newContext: (given) => link.newContext(given),
    // A hosted browser has a context of its own; a locally launched one has none.
    contexts: () => link.browser.contexts().filter((context) => context !== link.defaultContext),
    close: release,
  };
  const browser: Browser = new Proxy(link.browser, {
    get(target, property) {
      const ours: unknown = Reflect.get(own, property);
      if (ours !== undefined) return ours;
      const value: unknown = Reflect.get(target, property, target);
      if (typeof value !== 'function') return value;
      // `newPage` calls `this.newContext`: let that be ours.
      return value.bind(property === 'newPage' ? browser : target);
    },
  });
  // Without it, a script whose browser is lost would not end.
  link.browser.once('disconnected', () => void release());
  return { browser, session, release, [Symbol.asyncDispose]: release };
}

async function loadChromium(): Promise<BrowserType> {
  for (const name of ['playwright-core', 'playwright', '@playwright/test']) {
    try {
      return (await import(name)).chromium;
    } catch (error) {
      if (!isMissingModule(error)) throw error;
    }
  }
  throw new OptionsError(
    'chromium',
    'Playwright is not installed. Run `npm install --save-dev playwright-core`, or pass `leaseBrowser({ chromium })`.',
    'ENVIRONMENT_MISSING',
  );
}
