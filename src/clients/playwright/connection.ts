import type { Browser, BrowserContext, BrowserContextOptions, BrowserType } from '@playwright/test';
import type { LeasedBrowser } from '../../broker/rpc/messages/protocol.ts';
import type { CdpTransport } from '../../cdp/transport/transport.ts';
import { errorMessage } from '../../common/error-message.ts';
import { OptionsError } from '../../errors.ts';
import { keepsIdentity } from '../../options/identity.ts';
import {
  type ClientLibrary,
  type Connection,
  type ConnectionOptions,
  connectThrough,
} from '../shared/connection/connect-through.ts';
import { assertPersistent, assertReachable, TestProxies, withoutEmulation } from './context-options.ts';
import { WAYS } from './ways.ts';

/** Playwright's connection to one leased browser. */
export interface PlaywrightConnection extends Connection<Browser> {
  /** The browser's own context, which isolated tests do not use. */
  readonly defaultContext: BrowserContext | undefined;
  /** Whether contexts are open, such as one for a page that the tests of a file share. */
  hasContexts(): boolean;
  /** Whether contexts are open or opening. */
  isInUse(): boolean;
  /**
   * Opens a context, in the mode and with the identity of the connection's settings.
   * @param use the options that Playwright adds by itself
   * @throws OptionsError
   */
  newContext(options?: BrowserContextOptions, use?: Readonly<Record<string, unknown>>): Promise<BrowserContext>;
}

const SECOND_CONTEXT =
  'only one context can have the profile and extensions of the browser; this second one is a new context without them';
const CREDENTIALS_STAY =
  '`httpCredentials` in a persistent context: the browser keeps them until it ends, also for the following tests';
const NO_INSPECTOR =
  "Playwright's Inspector (--debug) opens in Playwright's own Chromium, which is not installed: run `npx playwright install chromium`, or run without --debug.";

/**
 * Connects Playwright to a leased browser.
 * @throws LeaseError `CONNECT_FAILED`, without the address in message, cause or stack; OptionsError
 *   `ENVIRONMENT_MISSING` with `--debug`, without Playwright's own Chromium
 */
export async function connectPlaywright(
  chromium: BrowserType,
  lease: LeasedBrowser,
  options: ConnectionOptions,
): Promise<PlaywrightConnection> {
  const proxies = new TestProxies();
  const library = { ...libraryOf(chromium, options), originsOfProxy: (server: string) => proxies.originsOf(server) };
  const connection = await connectThrough(library, lease, options);
  const { browser, mode } = connection;
  // Elsewhere, the browser looks as if it were launched: such a browser shows no default context.
  const defaultContext = options.way === undefined ? browser.contexts()[0] : undefined;
  const hasContexts = () => browser.contexts().some((context) => context !== defaultContext);
  let opening = 0;
  const openContext = async (contextOptions: BrowserContextOptions) => {
    opening += 1;
    const context = await browser.newContext(contextOptions).finally(() => {
      opening -= 1;
    });
    context.on('requestfailed', (request) =>
      connection.requestFailed(request.url(), request.failure()?.errorText ?? ''),
    );
    return context;
  };
  return {
    ...connection,
    defaultContext,
    hasContexts,
    isInUse: () => opening > 0 || hasContexts(),
    newContext: async (given = {}, use = {}) => {
      // As Playwright merges them.
      const merged = { ...use, ...given };
      assertReachable(merged, options);
      proxies.add(merged);
      if (mode.persistent) {
        const taken = hasContexts();
        if (taken) options.onNote(SECOND_CONTEXT);
        else assertPersistent(given, 'newContext');
        if ((given.httpCredentials ?? use.httpCredentials) && !taken) options.onNote(CREDENTIALS_STAY);
      }
      if (!keepsIdentity(options.identity, lease.type)) return await openContext(given);
      const { kept, note } = withoutEmulation(lease.type, given, use);
      if (note !== null) options.onNote(note);
      return await openContext(kept);
    },
  };
}

function libraryOf(chromium: BrowserType, { way }: ConnectionOptions): ClientLibrary<Browser> {
  const other = way && WAYS[way.name];
  return {
    name: 'playwright',
    connect: async (transport, timeout) => {
      const connecting = (await supportsTransport(chromium))
        ? chromium.connectOverCDP(transport, { timeout })
        : chromium.connectOverCDP(await tunnelTo(transport), { timeout });
      return await connecting.catch((error) => {
        throw lacksInspector(error) ? new OptionsError('PWDEBUG', NO_INSPECTOR, 'ENVIRONMENT_MISSING') : error;
      });
    },
    isConnected: (browser) => browser.isConnected(),
    disconnect: (browser) => browser.close(),
    ...(other && { open: async (opening) => await (await other()).open(chromium, way.address, opening) }),
  };
}

/** Whether `--debug` could not open its window. Playwright's own words are those for the browser of the tests. */
function lacksInspector(error: unknown): boolean {
  return Boolean(process.env.PWDEBUG) && /playwright install|executable doesn't exist/i.test(errorMessage(error));
}

/** Older Playwright versions accept only an address. */
async function tunnelTo(transport: CdpTransport): Promise<string> {
  const { openTunnel } = await import('../../cdp/transport/local-endpoint.ts');
  return await openTunnel(transport);
}

/** The part of Playwright's `chromium` that is needed here. */
interface ConnectsOverCdp {
  connectOverCDP(endpoint: object): Promise<unknown>;
}

const supports = new WeakMap<object, Promise<boolean>>();

/**
 * Whether this Playwright's `connectOverCDP` accepts a transport (since 1.61). It tries an object that is neither an
 * endpoint nor quite a transport: a Playwright that supports transports reads its `send`, an older one does not. Both
 * then reject, because there is nothing to connect to, before anything starts and before a step appears in the test's
 * report. Probes once per `chromium`; never rejects.
 */
export function supportsTransport(chromium: ConnectsOverCdp): Promise<boolean> {
  const known = supports.get(chromium);
  if (known) return known;
  const supported = probe(chromium);
  supports.set(chromium, supported);
  return supported;
}

async function probe(chromium: ConnectsOverCdp): Promise<boolean> {
  let askedForSend = false;
  const almostTransport = {
    get send(): undefined {
      askedForSend = true;
      return undefined;
    },
  };
  try {
    await chromium.connectOverCDP(almostTransport);
  } catch {
    // It always fails: the object has no address to connect to.
  }
  return askedForSend;
}
