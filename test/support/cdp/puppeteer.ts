import puppeteer, { type Browser, type ConnectOptions } from 'puppeteer-core';
import type { TransportOptions } from '../../../src/cdp/pipeline.ts';
import { asPuppeteerTransport } from '../../../src/clients/puppeteer/transport.ts';
import { test as base } from './fixtures.ts';

/** Puppeteer through our transport. */
export const test = base.extend<{
  connectPuppeteer: (cdpUrl: string, options?: Partial<TransportOptions>, connect?: ConnectOptions) => Promise<Browser>;
}>({
  connectPuppeteer: async ({ open }, use) => {
    const browsers: Browser[] = [];
    await use(async (cdpUrl, options = {}, connect = {}) => {
      const transport = asPuppeteerTransport(await open(cdpUrl, { ...options, client: 'puppeteer' }));
      const browser = await puppeteer.connect({ ...connect, transport, defaultViewport: null });
      browsers.push(browser);
      return browser;
    });
    for (const browser of browsers) if (browser.connected) await browser.disconnect();
  },
});

export { expect } from './fixtures.ts';
