import type { Browser, BrowserContext, BrowserContextOptions, BrowserType } from '@playwright/test';
import type { LeasedBrowser } from '../../broker/rpc/protocol.ts';
import { Savings } from '../../cdp/ahead/savings.ts';
import { Meter } from '../../cdp/metering/meter.ts';
import { describeClosed, type LinkClosed } from '../../cdp/transport/link-closed.ts';
import { type ContextOption, contextMode } from '../../options/context-mode.ts';
import { parseExposure } from '../../options/expose-network.ts';
import { type IdentityOption, keepsIdentity } from '../../options/identity.ts';
import type { RecordedLink } from '../recording/recorder.ts';
import { connectToBrowser } from './cdp-connection.ts';
import { assertPersistent, withoutEmulation } from './context-options.ts';
import type { Loss } from './loss.ts';
import { noteUnreached } from './unreached-servers.ts';
import { watch } from './watchdog.ts';

/**
 * Playwright's connection to one leased browser: Playwright's own `Browser` with what it does not know, which is how the
 * connection ended, what the test moved, and which context, identity and sign of life the options ask for. Without it,
 * every one that opens a context, puts a test on record or gives a browser back would have to know the transport.
 */
export interface BrowserConnection extends RecordedLink {
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
  /** Whether the browser answers; it may be silent for `ms`, longer behind what was just sent. */
  answers(ms: number): Promise<boolean>;
  /** Drops the connection; the browser itself goes on. */
  close(): Promise<void>;
}

const SECOND_CONTEXT =
  'a second context while the persistent one is open is a new one, without the profile and extensions of the browser';
const CREDENTIALS_STAY =
  '`httpCredentials` in a persistent context: the browser remembers them until it ends, for the tests that follow too';

/** Settings of a link. */
export interface ConnectionOptions {
  metering: boolean;
  /** Whether round trips are hidden. */
  ahead: boolean;
  /** Whether several tests use a browser one after the other. */
  sharesBrowser: boolean;
  /** What pages reach through this machine, as the option says it with `auto` made out. */
  exposeNetwork: string;
  context: ContextOption;
  identity: IdentityOption | undefined;
  /** Called with what the user should know about the contexts of this browser. */
  onNote(text: string): void;
  /** Called with what a page did not reach, and which option lets it. */
  onUnreached(text: string): void;
  /** Called once when the browser does not answer any more. */
  onSilent(): void;
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
  const meter = options.metering ? new Meter() : null;
  const exposure = parseExposure(options.exposeNetwork);
  const mode = contextMode(options.context, lease.hasOwnState);
  const persistent = mode.persistent ? { clear: mode.clear } : null;
  const ahead = options.ahead ? { savings: new Savings(), contexts: options.sharesBrowser } : null;
  const connected = await connectToBrowser(chromium, lease, { meter, exposure, persistent, ahead });
  const { browser, transport, bridgedBytes, carriedOrigins, wasCarried } = connected;
  const { closed } = transport;
  const defaultContext = browser.contexts()[0];
  const openContext = async (contextOptions: BrowserContextOptions) => {
    const context = await browser.newContext(contextOptions);
    noteUnreached(context, { byIntent: exposure.byIntent, wasCarried }, (text) => {
      options.onNote(text);
      options.onUnreached(text);
    });
    return context;
  };
  let loss: Loss | null = null;
  let isLetGo = false;
  const watchdog = watch({ browser, traffic: () => transport.traffic() }, (seconds) => {
    loss ??= { at: Date.now(), seen: `it did not answer for ${seconds} s`, silent: true };
    transport.close();
    options.onSilent();
  });
  void closed.then((why) => {
    watchdog.stop();
    // Whatever ends it then, no test has lost it.
    if (!isLetGo) loss ??= { at: Date.now(), seen: inSentence(describeClosed(why)), silent: false };
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
    observedBytes: () => meter?.total() ?? null,
    commands: () => transport.commands,
    bridgedBytes,
    carriedOrigins,
    lost: () => loss,
    answers: (ms) => watchdog.answers(ms),
    close: async () => {
      isLetGo = true;
      watchdog.stop();
      // On a link that is already down there is nothing to say goodbye to.
      await browser.close().catch(() => undefined);
    },
  };
}

function droppedNote(type: string, names: string[]): string {
  return `a ${type} browser keeps its own identity; not applied: ${names.join(', ')} (\`hosted: { identity: 'override' }\` applies them)`;
}

/** A sentence as part of another one. */
function inSentence(sentence: string): string {
  return `${sentence.charAt(0).toLowerCase()}${sentence.slice(1)}`.replace(/\.$/, '');
}
