import type { BrowserContext, BrowserContextOptions } from '@playwright/test';
import { chromium } from 'playwright-core';
import { parseNetworkRules } from '../../../src/options/network-rules.ts';
import { type DevServer, startDevServer } from './dev-server.ts';
import { type FarChromium, startFarChromium } from './far-chromium.ts';
import { test as base } from './fixtures.ts';

interface IntentFixtures {
  /** A server of the suite's own, on `localhost`: the browser has no way to it. */
  own: DevServer;
  /** Another one. */
  second: DevServer;
  /** One that stands for the internet: {@link foreignUrl}. */
  foreign: DevServer;
  /** Origins that were carried by intent, in their order. */
  origins: string[];
  /** Addresses that were not carried, in their order. */
  denied: string[];
  /** Hosts that are listed beside that. */
  listed: string;
  /** A new context of a browser that is far away, with a bridge that carries what the runner goes to. */
  newContext: (options?: BrowserContextOptions) => Promise<BrowserContext>;
}

export const test = base.extend<IntentFixtures, { intentChromium: FarChromium }>({
  own: async ({}, use) => {
    const server = await startDevServer();
    await use(server);
    await server.close();
  },
  second: async ({}, use) => {
    const server = await startDevServer();
    await use(server);
    await server.close();
  },
  foreign: async ({}, use) => {
    const server = await startDevServer();
    await use(server);
    await server.close();
  },
  origins: async ({}, use) => use([]),
  denied: async ({}, use) => use([]),
  listed: ['', { option: true }],
  intentChromium: [
    async ({}, use) => {
      const browser = await startFarChromium(['localhost', '127.0.0.1', '*.localhost'], ['*.example']);
      await use(browser);
      await browser.close();
    },
    { scope: 'worker' },
  ],
  newContext: async ({ intentChromium, open, origins, denied, listed }, use) => {
    const transport = await open(intentChromium.cdpUrl, {
      ...(listed && { bridge: parseNetworkRules(listed) }),
      byIntent: { onPlace: (place) => origins.push(place), onDenied: (url) => denied.push(url) },
    });
    const browser = await chromium.connectOverCDP(transport);
    await use(async (options) => await browser.newContext(options));
    await browser.close();
  },
});

/** Address of a page with this content: on the internet, or of another server where one is given. */
export function pageUrl(server: DevServer, html: string, host = 'evil.example'): string {
  return `http://${host}:${server.port}/page?html=${encodeURIComponent(html)}`;
}

export { expect } from './fixtures.ts';
