import type { Browser, BrowserContext, BrowserContextOptions, BrowserType } from '@playwright/test';
import type { LeasedBrowser } from '../../broker/rpc/protocol.ts';
import type { LinkClosed } from '../../cdp/transport/link-closed.ts';
import { contextMode } from '../../options/context-mode.ts';
import { parseExposure } from '../../options/expose-network.ts';
import { keepsIdentity } from '../../options/identity.ts';
import type { LeaseLink, LinkEvents } from '../../worker/link/lease-link.ts';
import { followLink } from '../../worker/link/link-life.ts';
import type { LinkSettings } from '../../worker/link/link-settings.ts';
import { unreachedText } from '../../worker/link/unreached.ts';
import { connectToBrowser } from './cdp-connection.ts';
import { assertPersistent, withoutEmulation } from './context-options.ts';

/**
 * Playwright's connection to one leased browser: Playwright's own `Browser` with what it does not know, which is how the
 * connection ended, what the test moved, and which context, identity and sign of life the options ask for. Without it,
 * every one that opens a context, puts a test on record or gives a browser back would have to know the transport.
 */
export interface BrowserConnection extends LeaseLink {
  readonly browser: Browser;
  /** The browser's own context, which isolated tests do not use. */
  readonly defaultContext: BrowserContext | undefined;
  /** Resolves as soon as the link is down, whoever closed it; what the other side said is in it. Never rejects. */
  readonly closed: Promise<LinkClosed>;
  /**
   * Opens a context, in the mode and with the identity that the link's settings say.
   * @param use what Playwright adds to the options by itself
   * @throws OptionsError
   */
  newContext(options?: BrowserContextOptions, use?: Readonly<Record<string, unknown>>): Promise<BrowserContext>;
}

const SECOND_CONTEXT =
  'a second context while the persistent one is open is a new one, without the profile and extensions of the browser';
const CREDENTIALS_STAY =
  '`httpCredentials` in a persistent context: the browser remembers them until it ends, for the tests that follow too';

/** Settings of a link. */
export interface ConnectionOptions extends LinkSettings, LinkEvents {
  /** Called with what a page did not reach, and which option lets it; or what was not uploaded as it is. */
  onUnreached(text: string): void;
}

/**
 * Connects to a leased browser.
 * @throws LeaseError `CONNECT_FAILED`, without the address in message, cause or stack.
 */
export async function connectToLease(
  chromium: BrowserType,
  lease: LeasedBrowser,
  options: ConnectionOptions,
): Promise<BrowserConnection> {
  const exposure = parseExposure(options.exposeNetwork);
  const mode = contextMode(options.context, lease.hasOwnState);
  const persistent = mode.persistent ? { clear: mode.clear } : undefined;
  const ahead = options.ahead ? { contexts: options.sharesBrowser } : null;
  const onNotCarried = (text: string) => {
    options.onNote(text);
    options.onUnreached(text);
  };
  const connected = await connectToBrowser(chromium, lease, {
    metering: options.metering,
    exposure,
    persistent,
    ahead,
    onNotCarried,
  });
  const { browser, transport, figures, wasCarried } = connected;
  const { closed } = transport;
  const defaultContext = browser.contexts()[0];
  const openContext = async (contextOptions: BrowserContextOptions) => {
    const context = await browser.newContext(contextOptions);
    context.on('requestfailed', (request) => {
      const error = request.failure()?.errorText ?? '';
      const text = unreachedText(request.url(), error, { byIntent: exposure.byIntent, wasCarried });
      if (text !== null) onNotCarried(text);
    });
    return context;
  };
  const life = followLink({
    transport,
    isConnected: () => browser.isConnected(),
    disconnect: () => browser.close(),
    onSilent: options.onSilent,
  });
  return {
    browser,
    lease,
    defaultContext,
    closed,
    newContext: async (given = {}, use = {}) => {
      if (persistent) {
        const taken = browser.contexts().some((context) => context !== defaultContext);
        if (taken) options.onNote(SECOND_CONTEXT);
        else assertPersistent(given, 'newContext');
        if ((given.httpCredentials ?? use.httpCredentials) && !taken) options.onNote(CREDENTIALS_STAY);
      }
      if (!keepsIdentity(options.identity, lease.type)) return await openContext(given);
      const { kept, dropped } = withoutEmulation(given, use);
      if (dropped.length > 0) options.onNote(droppedNote(lease.type, dropped));
      return await openContext(kept);
    },
    ...figures,
    ...life,
  };
}

function droppedNote(type: string, names: string[]): string {
  return `a ${type} browser keeps its own identity; not applied: ${names.join(', ')} (\`hosted: { identity: 'override' }\` applies them)`;
}
