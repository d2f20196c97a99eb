import type { BrowserContext, Page } from '@playwright/test';
import type { Meter } from '../cdp/index.ts';

/** The events that say how much a page moved. */
const NETWORK_EVENTS = [
  'Network.requestWillBeSent',
  'Network.responseReceived',
  'Network.requestServedFromCache',
  'Network.dataReceived',
  'Network.loadingFinished',
  'Network.loadingFailed',
  'Network.webSocketHandshakeResponseReceived',
  'Network.webSocketFrameSent',
  'Network.webSocketFrameReceived',
] as const;

/**
 * Metering for a Playwright that does not take our transport (before 1.62): its own CDP session per page reports the
 * same events. Costs a round trip or two per page, which the transport does not.
 */
export function meterContext(context: BrowserContext, meter: Meter): void {
  let sessions = 0;
  const watch = async (page: Page) => {
    try {
      const session = await context.newCDPSession(page);
      const sessionId = `address-${++sessions}`;
      for (const method of NETWORK_EVENTS) {
        session.on(method, (params: object) => meter.observe({ sessionId, method, params }));
      }
      await session.send('Network.enable');
    } catch {
      // The page closed before it was watched; it has moved nothing that counts.
    }
  };
  for (const page of context.pages()) void watch(page);
  context.on('page', (page) => void watch(page));
}
