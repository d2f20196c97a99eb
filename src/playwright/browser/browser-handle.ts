import type { Browser, BrowserContext, BrowserContextOptions } from '@playwright/test';
import type { RecordSink } from '../../worker/use-records.ts';
import { workerState } from '../worker-state.ts';
import type { BrowserConnection } from './browser-connection.ts';

/** What stands behind a handle. */
export interface HandleSource {
  /** The link to use for a new context; a fresh browser's when the last one was lost. */
  connected(testTimeout: number | null): Promise<BrowserConnection>;
  /** The last link, also a lost one. */
  readonly present: BrowserConnection | null;
  /** What the running test should know about its browser; null: nothing. */
  readonly warning: string | null;
  /** Where tests' records go. */
  readonly sink: RecordSink;
  close(): Promise<void>;
}

/**
 * The `browser` that tests see: one stable object in front of whatever browser is leased at the time. Everything but
 * the members below is the leased browser's own. Without it, Playwright's fixtures, which keep the first `Browser` that
 * they get for as long as the worker lives, would go on with one that has ended.
 */
export function browserHandle(source: HandleSource, first: BrowserConnection): Browser {
  let last = first;
  const link = () => {
    last = source.present ?? last;
    return last;
  };

  const newContext = async (options?: BrowserContextOptions): Promise<BrowserContext> => {
    const { recorder, contextUse } = workerState();
    const connected = await source.connected(recorder.testTimeout);
    recorder.uses(connected);
    if (source.warning !== null) recorder.warn(source.warning);
    const context = await connected.newContext(options, contextUse);
    // A context made through a handle would name the browser behind it.
    Object.defineProperty(context, 'browser', { value: () => handle, configurable: true });
    return context;
  };

  const own: Partial<Browser> = {
    newContext,
    // The leased browser has a context of its own; a locally launched one has none.
    contexts: () =>
      link()
        .browser.contexts()
        .filter((context) => context !== link().defaultContext),
    close: async () => {
      try {
        await workerState().recorder.endUnfinished(source.sink);
      } finally {
        await source.close();
      }
    },
  };

  const handle: Browser = new Proxy(first.browser, {
    get(_target, property) {
      const ours: unknown = Reflect.get(own, property);
      if (ours !== undefined) return ours;
      const { browser } = link();
      const value: unknown = Reflect.get(browser, property, browser);
      if (typeof value !== 'function') return value;
      // `newPage` calls `this.newContext`: let that be the handle's. Everything else runs on the leased browser.
      return property === 'newPage' ? value.bind(handle) : value.bind(browser);
    },
  });
  return handle;
}
