import type { Browser, BrowserContext, CDPSession } from 'puppeteer-core';
import type { PuppeteerConnection } from './connection.ts';

/** A context of one test, or of one file of tests. */
export interface TestContext {
  readonly context: BrowserContext;
  /**
   * Closes what was opened since: of an isolated one also the context itself; of the browser's own, permissions are
   * reset, and cookies and storage are cleared where the options say so. On a lost browser it does nothing.
   */
  close(): Promise<void>;
}

/** Opens a context in the mode that the options say: a new one, or the browser's own, which has its profile. */
export async function openTestContext({ browser, mode }: PuppeteerConnection): Promise<TestContext> {
  const before = new Set(browser.browserContexts());
  const own = browser.defaultBrowserContext();
  const context = mode.persistent ? own : await browser.createBrowserContext();
  return {
    context,
    close: async () => {
      if (!browser.connected) return;
      const others = browser.browserContexts().filter((each) => each !== own && !before.has(each));
      await Promise.all(others.map((each) => settled(each.close())));
      // A test may have opened pages there by itself (`browser.newPage()`): they are nobody else's business.
      const opened = await closePages(own);
      if (mode.persistent) await settled(own.clearPermissionOverrides());
      if (mode.persistent ? mode.clear : opened) await settled(clear(browser));
    },
  };
}

/** What a lost browser refuses has gone with it. */
async function settled(work: Promise<unknown>): Promise<void> {
  await work.catch(() => undefined);
}

/** Returns whether there were any. */
async function closePages(context: BrowserContext): Promise<boolean> {
  const pages = await context.pages().catch(() => []);
  await Promise.all(pages.map((page) => settled(page.close())));
  return pages.length > 0;
}

/** Clears the cookies and the storage of the browser's own context. Only a page can be asked for the latter. */
async function clear(browser: Browser): Promise<void> {
  const page = await browser.defaultBrowserContext().newPage();
  try {
    const session: CDPSession = await page.createCDPSession();
    await session.send('Storage.clearDataForOrigin', { origin: '*', storageTypes: 'all' });
    await session.send('Network.clearBrowserCookies');
  } finally {
    await page.close();
  }
}
