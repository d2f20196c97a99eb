import type { Browser, BrowserContext, BrowserContextOptions } from '@playwright/test';
import { browserHandle } from '../../clients/playwright/browser-handle.ts';
import type { PlaywrightConnection } from '../../clients/playwright/connection.ts';
import type { WorkerBrowser } from '../../clients/shared/worker-browser.ts';
import { workerState } from './worker-state.ts';

/**
 * The `browser` of tests: one stable object that forwards to the currently leased browser. Playwright's fixtures keep
 * the first `Browser` that they get for the lifetime of the worker. Without this object, they would keep using one that
 * has ended.
 */
export function testBrowser(hosted: WorkerBrowser<PlaywrightConnection>, first: PlaywrightConnection): Browser {
  let last = first;
  const current = () => {
    last = hosted.current ?? last;
    return last;
  };
  const newContext = async (options?: BrowserContextOptions): Promise<BrowserContext> => {
    const { recorder, contextUse } = workerState();
    const connected = await hosted.connected(recorder.testTimeout);
    recorder.uses(connected);
    if (hosted.warning !== null) recorder.warn(hosted.warning);
    const context = await connected.newContext(options, contextUse);
    // Playwright closes the context of a failed test at once.
    if (hosted.features.needFailures) beforeClose(context, () => recorder.closing(hosted.features));
    // `context.browser()` must return the handle, not the browser behind it.
    Object.defineProperty(context, 'browser', { value: () => handle, configurable: true });
    return context;
  };
  const close = async () => {
    try {
      await workerState().recorder.endUnfinished(hosted.sink, hosted.features);
    } finally {
      await hosted.close();
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
