import type { Browser, BrowserContext, BrowserContextOptions, BrowserType } from '@playwright/test';
import type { LeasedBrowser } from '../broker/protocol.ts';
import { Meter } from '../cdp/meter.ts';
import { LeaseError } from '../errors.ts';
import { redactText } from '../redact.ts';
import { meterContext } from './context-metering.ts';
import type { Loss } from './loss.ts';
import type { RecordedLink } from './recorder.ts';
import { watch } from './watchdog.ts';

/** Playwright's connection to one leased browser. */
export interface BrowserLink extends RecordedLink {
  readonly browser: Browser;
  /** The browser's own context, which isolated tests do not use. */
  readonly defaultContext: BrowserContext | undefined;
  /** Opens a context whose pages are metered. */
  newContext(options?: BrowserContextOptions): Promise<BrowserContext>;
  /** Whether the browser answers within `ms`. */
  answers(ms: number): Promise<boolean>;
  /** Drops the connection; the browser itself goes on. */
  close(): Promise<void>;
}

/** Settings of a link. */
export interface LinkOptions {
  metering: boolean;
  /** Called once when the browser does not answer any more. */
  onSilent(): void;
}

/** Bound on connecting to a browser that the service called ready, in ms: a wedged tab can stall it for ever. */
const CONNECT_TIMEOUT_MS = 30_000;

/**
 * Connects to a leased browser.
 * @throws LeaseError `CONNECT_FAILED`, without the address in message, cause or stack.
 */
export async function openLink(
  chromium: BrowserType,
  lease: LeasedBrowser,
  options: LinkOptions,
): Promise<BrowserLink> {
  const browser = await connect(chromium, lease);
  const meter = options.metering ? new Meter() : null;
  let loss: Loss | null = null;
  const lost = (seen: string, silent: boolean) => {
    loss ??= { at: Date.now(), seen, silent };
  };
  const watchdog = watch(browser, (seconds) => {
    lost(`it did not answer for ${seconds} s`, true);
    options.onSilent();
  });
  browser.on('disconnected', () => {
    watchdog.stop();
    lost('its link closed', false);
  });
  return {
    browser,
    lease,
    defaultContext: browser.contexts()[0],
    newContext: async (contextOptions) => {
      const context = await browser.newContext(contextOptions);
      if (meter) meterContext(context, meter);
      return context;
    },
    observedBytes: () => meter?.total() ?? null,
    lost: () => loss,
    answers: (ms) => watchdog.answers(ms),
    close: async () => {
      watchdog.stop();
      // On a link that is already down there is nothing to say goodbye to.
      await browser.close().catch(() => undefined);
    },
  };
}

async function connect(chromium: BrowserType, lease: LeasedBrowser): Promise<Browser> {
  try {
    return await chromium.connectOverCDP(lease.cdpUrl, { timeout: CONNECT_TIMEOUT_MS });
  } catch (error) {
    // No `cause`: Playwright's error holds the address.
    const reason = redactText(error instanceof Error ? error.message : String(error), [lease.cdpUrl]);
    throw new LeaseError(
      'CONNECT_FAILED',
      `Could not connect to the browser of session ${lease.sessionId}: ${reason}`,
      {
        sessionId: lease.sessionId,
      },
    );
  }
}
