import { spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Browser, ConnectOptions, LaunchOptions } from 'puppeteer-core';
import { connectPuppeteer } from '../../../src/clients/puppeteer/connection.ts';
import { killGroup } from '../../../src/emulator/chromium/kill-group.ts';
import { farAddress } from './far-link.ts';
import type { Way } from './run-mocha.ts';

/**
 * Loaded by Mocha before Puppeteer's own tests: what they launch is a browser that is started here and only connected
 * to, plainly or through poolwright. Each has its own process, because tests give their own flags.
 */

/** As much of `puppeteer` as is put in place here or needed for it. */
interface Puppeteer {
  launch(options?: LaunchOptions): Promise<Browser>;
  connect(options: ConnectOptions): Promise<Browser>;
  defaultArgs(options: LaunchOptions): string[];
}

const { COMPAT_CHECKOUT = '', COMPAT_PROFILES = '', COMPAT_WAY, BINARY = '' } = process.env;
const isPlain = COMPAT_WAY === ('plain' satisfies Way);
const isAhead = COMPAT_WAY === ('ahead' satisfies Way);
/** How far browsers are for `ahead`, which does nothing nearer than 5 ms, in ms. */
const ROUND_TRIP_MS = 10;
const fromCheckout = createRequire(join(COMPAT_CHECKOUT, 'test', 'package.json'));
const puppeteer: Puppeteer = fromCheckout('puppeteer/lib/cjs/puppeteer/puppeteer.js').default;
const connectPlainly = puppeteer.connect.bind(puppeteer);

// Browsers are ended when this process exits, also where it is told to.
process.once('SIGTERM', () => process.exit(1));

puppeteer.launch = async (options = {}) => {
  const { end, address } = await startBrowser(options);
  const browser = await puppeteer.connect({ ...options, browserWSEndpoint: address });
  const close = browser.close.bind(browser);
  // poolwright's `close` does not end the browser: that is for who started it. `disconnect` leaves it to who connects
  // next.
  browser.close = async () => {
    await close();
    if (!isPlain) end();
  };
  return browser;
};

puppeteer.connect = async (options) => {
  const { browserWSEndpoint } = options;
  if (isPlain || browserWSEndpoint === undefined) return await connectPlainly(options);
  const cdpUrl = isAhead ? await farAddress(browserWSEndpoint, ROUND_TRIP_MS) : browserWSEndpoint;
  const { browser } = await connectPuppeteer(leaseOf(cdpUrl), {
    puppeteer: { connect: connectPlainly },
    // That is the default of both, where a test says nothing.
    connect: { defaultViewport: { width: 800, height: 600 }, ...withoutAddress(options) },
    identity: 'override',
    exposeNetwork: 'none',
    context: 'isolated',
    metering: true,
    ahead: isAhead,
    // With a browser for one test only, nothing would be prepared for the next one.
    reuse: isAhead ? 'run' : 'test',
    onNote: () => undefined,
    onSilent: () => undefined,
    onUnreachable: () => undefined,
  });
  // A browser behind a transport has no address; tests connect to it again by that.
  browser.wsEndpoint = () => browserWSEndpoint;
  return browser;
};

function withoutAddress({ browserWSEndpoint: _address, ...options }: ConnectOptions): ConnectOptions {
  return options;
}

function leaseOf(cdpUrl: string) {
  const now = new Date().toISOString();
  const whose = { sessionId: 'compat', leaseId: null, poolId: null, servedBy: null };
  const lifetime = { startedAt: now, lifetimeMs: 3_600_000, expiresAt: now };
  return {
    ...whose,
    ...lifetime,
    type: 'hosted' as const,
    hasOwnState: false,
    runsAlready: false,
    reused: false,
    cdpUrl,
  };
}

async function startBrowser(options: LaunchOptions): Promise<{ address: string; end(): void }> {
  const userDataDir = options.userDataDir ?? mkdtempSync(join(COMPAT_PROFILES, 'profile-'));
  const args = [...puppeteer.defaultArgs({ ...options, userDataDir }), '--remote-debugging-port=0', '--no-sandbox'];
  const env = { ...process.env, ...options.env };
  const child = spawn(BINARY, args, { stdio: ['ignore', 'ignore', 'pipe'], env, detached: true });
  const end = () => {
    if (child.pid !== undefined) killGroup(child.pid);
  };
  process.once('exit', end);
  child.once('exit', () => process.off('exit', end));
  for await (const line of createInterface({ input: child.stderr })) {
    const address = /^DevTools listening on (ws:\S+)/.exec(line)?.[1];
    if (address === undefined) continue;
    child.stderr.resume();
    return { end, address };
  }
  throw new Error(`${BINARY} did not start with ${args.join(' ')}`);
}
