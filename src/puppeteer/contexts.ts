import type { Browser, BrowserContext } from 'puppeteer-core';
import type { PuppeteerConnection } from './connection.ts';

/** A context of one test, or of one file of tests. */
export interface TestContext {
  readonly context: BrowserContext;
  /**
   * Closes an isolated context. The last one that is open on its browser also closes what tests opened by themselves, and
   * in the browser's own context resets permissions and clears cookies and storage where the options say so. On a lost
   * browser it does nothing.
   */
  close(): Promise<void>;
}

/** How many tests use a browser at once: what they open cannot be told apart. */
const users = new WeakMap<Browser, number>();

/** Opens a context in the mode that the options say: a new one, or the browser's own, which has its profile. */
export async function openTestContext({ browser, mode }: PuppeteerConnection): Promise<TestContext> {
  count(browser, 1);
  const own = browser.defaultBrowserContext();
  let context = own;
  try {
    if (!mode.persistent) context = await browser.createBrowserContext();
  } catch (error) {
    count(browser, -1);
    throw error;
  }
  return {
    context,
    close: async () => {
      const others = count(browser, -1);
      if (!browser.connected) return;
      if (context !== own) await settled(context.close());
      if (others > 0) return;
      await Promise.all(browser.browserContexts().map((each) => each !== own && settled(each.close())));
      // A test may have opened pages there by itself (`browser.newPage()`): they are nobody else's business.
      const opened = await closePages(own);
      if (mode.persistent) await settled(own.clearPermissionOverrides());
      if (mode.persistent ? mode.clear : opened) await settled(clear(own));
    },
  };
}

/** Returns how many use it now. */
function count(browser: Browser, change: 1 | -1): number {
  const using = (users.get(browser) ?? 0) + change;
  users.set(browser, using);
  return using;
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
async function clear(own: BrowserContext): Promise<void> {
  const page = await own.newPage();
  try {
    const session = await page.createCDPSession();
    await session.send('Storage.clearDataForOrigin', { origin: '*', storageTypes: 'all' });
    await session.send('Network.clearBrowserCookies');
  } finally {
    await page.close();
  }
}
