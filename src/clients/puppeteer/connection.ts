import pTimeout from 'p-timeout';
import type { Browser, ConnectOptions } from 'puppeteer-core';
import type { LeasedBrowser } from '../../broker/rpc/messages/protocol.ts';
import { clearTimeout, setTimeout } from '../../common/clock.ts';
import { isMissingModule } from '../../common/import-module.ts';
import { OptionsError } from '../../errors.ts';
import { keepsIdentity } from '../../options/identity.ts';
import {
  type ClientLibrary,
  type Connection,
  type ConnectionOptions,
  connectThrough,
} from '../shared/connection/connect-through.ts';
import { asPuppeteerTransport } from './transport.ts';

/** Options of `puppeteer.connect`, except the address and protocol, which poolwright sets. */
export type PuppeteerOptions = Omit<
  ConnectOptions,
  'browserURL' | 'browserWSEndpoint' | 'capabilities' | 'channel' | 'headers' | 'protocol' | 'transport'
>;

/** The part of Puppeteer that is needed: `puppeteer`, `puppeteer-core`, or one with plugins (`puppeteer-extra`). */
export interface Connects {
  /** Connects to a browser that runs. */
  connect(options: ConnectOptions): Promise<Browser>;
}

/** Puppeteer's connection to one leased browser. */
export type PuppeteerConnection = Connection<Browser>;

/** Settings of a connection. */
export interface PuppeteerConnectionOptions extends ConnectionOptions {
  puppeteer: Connects;
  connect: PuppeteerOptions;
}

/**
 * Connects Puppeteer to a leased browser. The window keeps its size unless `connect.defaultViewport` is set, because an
 * emulated size reveals a stealth browser. With `identity: 'override'`, Puppeteer's default applies.
 * @throws LeaseError `CONNECT_FAILED`, without the address in message, cause or stack
 */
export async function connectPuppeteer(
  lease: LeasedBrowser,
  options: PuppeteerConnectionOptions,
): Promise<PuppeteerConnection> {
  const connection = await connectThrough(libraryOf(options), lease, options);
  followFailedRequests(connection);
  if (options.connect.defaultViewport && keepsIdentity(options.identity, lease.type))
    options.onNote(viewportNote(lease));
  return connection;
}

function libraryOf({ puppeteer, connect, identity }: PuppeteerConnectionOptions): ClientLibrary<Browser> {
  const viewport = identity === 'override' ? {} : { defaultViewport: null };
  return {
    name: 'puppeteer',
    // Puppeteer has no bound on connecting.
    connect: async (transport, timeout) =>
      await pTimeout(puppeteer.connect({ ...viewport, ...connect, transport: asPuppeteerTransport(transport) }), {
        milliseconds: timeout,
        customTimers: { setTimeout, clearTimeout },
        message: `Puppeteer was not connected within ${Math.round(timeout / 1000)} s`,
      }),
    isConnected: (browser) => browser.connected,
    disconnect: (browser) => browser.disconnect(),
  };
}

function followFailedRequests({ browser, requestFailed }: PuppeteerConnection): void {
  browser.on('targetcreated', async (target) => {
    if (target.type() !== 'page') return;
    // A target that has already closed has no page.
    const page = await target.page().catch(() => null);
    page?.on('requestfailed', (request) => requestFailed(request.url(), request.failure()?.errorText ?? ''));
  });
}

function viewportNote({ type }: LeasedBrowser): string {
  return `\`connect.defaultViewport\` emulates a window size, which can reveal a ${type} browser: remove it and set \`session: { windowSize }\``;
}

/** Loads the user's Puppeteer; `puppeteer-core` first, because it is smaller. @throws PoolwrightError */
export async function loadPuppeteer(): Promise<Connects> {
  try {
    return (await import('puppeteer-core')).default;
  } catch (error) {
    if (!isMissingModule(error)) throw error;
  }
  try {
    const name = 'puppeteer'; // a variable, because TypeScript would report that it is not installed
    return (await import(name)).default;
  } catch (error) {
    if (!isMissingModule(error)) throw error;
    throw new OptionsError(
      'puppeteer',
      'Neither puppeteer-core nor puppeteer is installed. Run `npm install --save-dev puppeteer-core`, or pass one: `leaseBrowser({ puppeteer })`.',
      'ENVIRONMENT_MISSING',
    );
  }
}
