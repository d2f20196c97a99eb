import type { Browser } from 'puppeteer-core';
import { notify } from '../common/text/notify.ts';
import type { HostedSession } from '../worker/hosted-session.ts';
import { type LeaseOptions as CommonOptions, leaseOne } from '../worker/lease-one.ts';
import { assertNothingAhead } from './ahead-option.ts';
import { type Connects, connectPuppeteer, type PuppeteerOptions } from './connection.ts';
import { loadPuppeteer } from './load-puppeteer.ts';

/** Options of {@link leaseBrowser}: those of `withHostedBrowsers`, and what concerns Puppeteer. */
export interface LeaseOptions extends CommonOptions {
  /** What connects: default `puppeteer-core`, else `puppeteer`, whichever is installed. */
  puppeteer?: Connects;
  /** Further options of `puppeteer.connect`. `defaultViewport` is null unless given: the window keeps its size. */
  connect?: PuppeteerOptions;
}

/** A browser that is leased until it is released. */
export interface LeasedBrowser extends AsyncDisposable {
  /** Puppeteer's own. Its `close()` and `disconnect()` release it, too. */
  readonly browser: Browser;
  /** The session behind it. */
  readonly session: HostedSession;
  /** Gives the browser back. Called again it does nothing more. Never rejects. */
  release(): Promise<void>;
}

/**
 * Leases a hosted browser for Puppeteer: from a pool, or a session created for it. It is given back by `release()`, at the
 * end of an `await using` block, or when this process ends, however it dies.
 *
 * @param options an unknown key is an error that names it and the nearest known one
 * @throws OptionsError for a wrong option, or a key or address that is missing
 * @throws LeaseError `ACQUIRE_TIMEOUT`, `CONNECT_FAILED`; ServiceError when the service refuses: no browser is held then
 */
export async function leaseBrowser(options: LeaseOptions = {}): Promise<LeasedBrowser> {
  assertNothingAhead(options, 'leaseBrowser(options)');
  const { puppeteer = await loadPuppeteer(), connect = {}, ...given } = options;
  const leased = await leaseOne(given, (settings, lease, events) =>
    connectPuppeteer(lease, {
      ...settings,
      ...events,
      puppeteer,
      connect,
      onNote: notify,
      onUnreached: () => undefined,
    }),
  );
  const { link, session, release } = leased;
  // Without it, a script that closes the browser and forgets the rest would not end.
  link.browser.once('disconnected', () => void release());
  return { browser: link.browser, session, release, [Symbol.asyncDispose]: release };
}
