/** `poolwright/puppeteer`: hosted browsers for Puppeteer, under any test runner or none. */

import type { Browser } from 'puppeteer-core';
import type { HostedSession } from '../shared/hosted-session.ts';
import { type LeaseOptions as CommonOptions, leaseOne } from '../shared/lease-one.ts';
import { type Connects, connectPuppeteer, loadPuppeteer, type PuppeteerOptions } from './connection.ts';

export { EmulatorError, LeaseError, OptionsError, PoolwrightError, ServiceError } from '../../errors.ts';
export type { HostedOptions } from '../../options/schema/schema.ts';
export type { HostedSession } from '../shared/hosted-session.ts';

/** Options of {@link leaseBrowser}: those of `withHostedBrowsers`, plus those for Puppeteer. */
export interface LeaseOptions extends CommonOptions {
  /** The Puppeteer that connects. Default: `puppeteer-core`, else `puppeteer`. */
  puppeteer?: Connects;
  /** Further options of `puppeteer.connect`. `defaultViewport` defaults to null: the window keeps its size. */
  connect?: PuppeteerOptions;
}

/** A browser that is leased until it is released. */
export interface LeasedBrowser extends AsyncDisposable {
  /** Puppeteer's `Browser`. Its `close()` and `disconnect()` also release it. */
  readonly browser: Browser;
  /** The session that the browser belongs to. */
  readonly session: HostedSession;
  /** Gives the browser back. Calling it again has no effect. Never rejects. */
  release(): Promise<void>;
}

/**
 * Leases a hosted browser for Puppeteer, from a pool or from a session created for it. It is given back by `release()`,
 * at the end of an `await using` block, or when this process ends, even after a crash.
 *
 * @param options an unknown key is an error that names it and the most similar option
 * @throws OptionsError for an invalid option, or a missing key or address
 * @throws LeaseError `ACQUIRE_TIMEOUT`, `CONNECT_FAILED`; ServiceError when the service rejects the request. No browser
 * stays leased then.
 */
export async function leaseBrowser(options: LeaseOptions = {}): Promise<LeasedBrowser> {
  const { puppeteer = await loadPuppeteer(), connect = {}, ...given } = options;
  const { connection, ...leased } = await leaseOne(given, (lease, settings) =>
    connectPuppeteer(lease, { ...settings, puppeteer, connect }),
  );
  return { browser: connection.browser, ...leased };
}
