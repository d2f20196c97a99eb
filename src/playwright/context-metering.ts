import type { BrowserContext, Page } from '@playwright/test';
import type { Meter } from '../cdp/meter.ts';

/** The events that say how much a page moved. */
const NETWORK_EVENTS = [
  'Network.requestWillBeSent',
  'Network.dataReceived',
  'Network.loadingFinished',
  'Network.loadingFailed',
  'Network.webSocketFrameSent',
  'Network.webSocketFrameReceived',
] as const;

let sessions = 0;

/**
 * Meters every page of a context: a CDP session of its own reports the browser's network events. Costs a round trip or
 * two per page, beside the test's own.
 */
export function meterContext(context: BrowserContext, meter: Meter): void {
  const watch = async (page: Page) => {
    try {
      const session = await context.newCDPSession(page);
      const sessionId = `page-${++sessions}`;
      for (const method of NETWORK_EVENTS) {
        session.on(method, (params: object) => meter.observe({ sessionId, method, params }));
      }
      await session.send('Network.enable');
    } catch {
      // The page closed before it was watched; it has moved nothing that counts.
    }
  };
  context.on('page', (page) => void watch(page));
}
