import type { Browser, BrowserContext } from 'puppeteer-core';
import type { PuppeteerConnection } from './connection.ts';

/** A context of one test or of one test file. */
export interface TestContext {
  readonly context: BrowserContext;
  /**
   * Closes an isolated context. The last one of its browser also closes everything that tests opened themselves; in a
   * persistent context it resets permissions and, if the options ask for it, clears cookies and storage. Does nothing
   * when the browser is lost.
   */
  close(): Promise<void>;
}

/** How many tests use each browser at the same time. Their pages cannot be told apart. */
const users = new WeakMap<Browser, number>();

/** Opens a context in the mode of the options: a new one, or the browser's default context with its profile. */
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
      // A test may have opened pages there with `browser.newPage()`. No later test needs them.
      const opened = await closePages(own);
      if (mode.persistent) await settled(own.clearPermissionOverrides());
      if (mode.persistent ? mode.clear : opened) await settled(clear(own));
    },
  };
}

/** Returns how many tests use the browser now. */
function count(browser: Browser, change: 1 | -1): number {
  const using = (users.get(browser) ?? 0) + change;
  users.set(browser, using);
  return using;
}

/** A lost browser rejects everything, but then there is nothing left to clean up. */
async function settled(work: Promise<unknown>): Promise<void> {
  await work.catch(() => undefined);
}

/** Returns whether there were any pages. */
async function closePages(context: BrowserContext): Promise<boolean> {
  const pages = await context.pages().catch(() => []);
  await Promise.all(pages.map((page) => settled(page.close())));
  return pages.length > 0;
}

/** Clears cookies and storage of the browser's default context. Storage can only be cleared through a page. */
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
