import type { Browser, BrowserContext, BrowserContextOptions } from '@playwright/test';
import { browserHandle } from '../../clients/playwright/browser-handle.ts';
import type { PlaywrightConnection } from '../../clients/playwright/connection.ts';
import type { RecordSink } from '../../clients/shared/test-use.ts';
import { workerState } from './worker-state.ts';

/** Provides the connection behind a handle. */
export interface HandleSource {
  /** The connection for a new context. Uses a new browser if the last one was lost. */
  connected(testTimeout: number | null): Promise<PlaywrightConnection>;
  /** The last connection, even if lost. */
  readonly current: PlaywrightConnection | null;
  /** A warning about the browser for the running test; null if there is none. */
  readonly warning: string | null;
  /** Receives the records of tests. */
  readonly sink: RecordSink;
  close(): Promise<void>;
}

/**
 * The `browser` of tests: one stable object that forwards to the currently leased browser. Playwright's fixtures keep
 * the first `Browser` that they get for the lifetime of the worker. Without this object, they would keep using one that
 * has ended.
 */
export function testBrowser(source: HandleSource, first: PlaywrightConnection): Browser {
  let last = first;
  const current = () => {
    last = source.current ?? last;
    return last;
  };
  const newContext = async (options?: BrowserContextOptions): Promise<BrowserContext> => {
    const { recorder, contextUse, features } = workerState();
    const connected = await source.connected(recorder.testTimeout);
    recorder.uses(connected);
    if (source.warning !== null) recorder.warn(source.warning);
    const context = await connected.newContext(options, contextUse);
    // Playwright closes the context of a failed test at once.
    if (features?.needFailures) beforeClose(context, () => recorder.closing(features));
    // `context.browser()` must return the handle, not the browser behind it.
    Object.defineProperty(context, 'browser', { value: () => handle, configurable: true });
    return context;
  };
  const close = async () => {
    try {
      const { recorder, features } = workerState();
      await recorder.endUnfinished(source.sink, features);
    } finally {
      await source.close();
    }
  };
  const handle = browserHandle(current, { newContext, close });
  return handle;
}

function beforeClose(context: BrowserContext, before: () => Promise<void>): void {
  const close = context.close.bind(context);
  context.close = async (options) => {
    await before();
    await close(options);
  };
}
