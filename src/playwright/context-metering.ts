import type { BrowserContext, Page } from '@playwright/test';
import { type Meter, meteredEvents } from '../cdp/meter.ts';

let sessions = 0;

/**
 * Meters every page of a context where there is no transport to watch (Playwright before 1.61): a CDP session of its
 * own reports the browser's network events, at the price of two round trips a page. A page that the test opens is
 * metered before the test has it; of a popup, which loads by itself, what came before those round trips is missing.
 */
export function meterContext(context: BrowserContext, meter: Meter): void {
  const metered = new WeakMap<Page, Promise<void>>();
  const watch = (page: Page): Promise<void> => {
    const already = metered.get(page);
    if (already) return already;
    const watching = meterPage(context, page, meter);
    metered.set(page, watching);
    return watching;
  };
  context.on('page', (page) => void watch(page));

  const newPage = context.newPage.bind(context);
  context.newPage = async () => {
    const page = await newPage();
    await watch(page);
    return page;
  };
}

async function meterPage(context: BrowserContext, page: Page, meter: Meter): Promise<void> {
  try {
    const session = await context.newCDPSession(page);
    const sessionId = `page-${++sessions}`;
    for (const method of meteredEvents) {
      session.on(method, (params: object) => meter.observe({ sessionId, method, params }));
    }
    await session.send('Network.enable');
  } catch {
    // The page closed before it was watched; it has moved nothing that counts.
  }
}
