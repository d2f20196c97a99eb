import type { Browser, ConnectOptions } from 'puppeteer-core';
import type { LeasedBrowser } from '../broker/rpc/protocol.ts';
import { type ContextMode, contextMode } from '../options/context-mode.ts';
import { parseExposure } from '../options/expose-network.ts';
import { keepsIdentity } from '../options/identity.ts';
import type { LeaseLink, LinkEvents } from '../worker/link/lease-link.ts';
import { followLink } from '../worker/link/link-life.ts';
import type { LinkSettings } from '../worker/link/link-settings.ts';
import { connectThrough } from '../worker/link/link-transport.ts';
import { unreachedText } from '../worker/link/unreached.ts';
import { asPuppeteerTransport } from './transport.ts';

/** What `puppeteer.connect` takes, without where to connect to and over which protocol: that is ours to say. */
export type PuppeteerOptions = Omit<
  ConnectOptions,
  'browserURL' | 'browserWSEndpoint' | 'capabilities' | 'channel' | 'headers' | 'protocol' | 'transport'
>;

/** As much of Puppeteer as is needed: `puppeteer`, `puppeteer-core`, or one with plugins (`puppeteer-extra`). */
export interface Connects {
  connect(options: ConnectOptions): Promise<Browser>;
}

/** Puppeteer's connection to one leased browser. */
export interface PuppeteerConnection extends LeaseLink {
  readonly browser: Browser;
  /** Which of its contexts tests use. */
  readonly mode: ContextMode;
}

/** Settings of a connection. */
export interface PuppeteerConnectionOptions extends LinkSettings, LinkEvents {
  puppeteer: Connects;
  connect: PuppeteerOptions;
  /** Called with what a page did not reach, and which option lets it; or what was not uploaded as it is. */
  onUnreached(text: string): void;
}

/**
 * Connects Puppeteer to a leased browser. The window keeps its own size, unless `connect.defaultViewport` says otherwise:
 * an emulated one gives a stealth browser away. With `identity: 'override'` it is Puppeteer's default.
 * @throws LeaseError `CONNECT_FAILED`, without the address in message, cause or stack.
 */
export async function connectPuppeteer(
  lease: LeasedBrowser,
  options: PuppeteerConnectionOptions,
): Promise<PuppeteerConnection> {
  const exposure = parseExposure(options.exposeNetwork);
  const viewport = options.identity === 'override' ? {} : { defaultViewport: null };
  const onNotCarried = (text: string) => {
    options.onNote(text);
    options.onUnreached(text);
  };
  const connected = await connectThrough(
    lease,
    { metering: options.metering, exposure, client: 'puppeteer', onNotCarried },
    (transport, timeout) => {
      const settings = { ...viewport, ...options.connect, transport: asPuppeteerTransport(transport) };
      return within(timeout, options.puppeteer.connect(settings));
    },
  );
  const { browser, transport, figures, wasCarried } = connected;
  const carried = { byIntent: exposure.byIntent, wasCarried };
  tellUnreached(browser, (url, error) => {
    const text = unreachedText(url, error, carried);
    if (text !== null) onNotCarried(text);
  });
  if (options.connect.defaultViewport && keepsIdentity(options.identity, lease.type))
    options.onNote(viewportNote(lease));
  const life = followLink({
    transport,
    isConnected: () => browser.connected,
    disconnect: () => browser.disconnect(),
    onSilent: options.onSilent,
  });
  return {
    browser,
    lease,
    mode: contextMode(options.context, lease.hasOwnState),
    ...figures,
    ...life,
  };
}

/** Follows the requests of every page that fail. */
function tellUnreached(browser: Browser, tell: (url: string, error: string) => void): void {
  browser.on('targetcreated', async (target) => {
    if (target.type() !== 'page') return;
    // One that has closed meanwhile has no page.
    const page = await target.page().catch(() => null);
    page?.on('requestfailed', (request) => tell(request.url(), request.failure()?.errorText ?? ''));
  });
}

/** Puppeteer has no bound on connecting. */
async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`Puppeteer was not connected within ${Math.round(ms / 1000)} s`)), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

function viewportNote({ type }: LeasedBrowser): string {
  return `\`connect.defaultViewport\` is emulated, which a ${type} browser is there to avoid: leave it out, and set \`session: { windowSize }\``;
}
