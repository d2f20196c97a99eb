import { hostname } from 'node:os';
import type { BrowserContext, BrowserContextOptions } from '@playwright/test';
import { chromium } from 'playwright-core';
import { parseNetworkRules } from '../../../src/options/network-rules.ts';
import { type DevServer, startDevServer } from './dev-server.ts';
import { type FarChromium, startFarChromium } from './far-chromium.ts';
import { test as base } from './fixtures.ts';

interface IntentFixtures {
  /** The suite's own server, on `localhost`: the browser cannot reach it directly. */
  own: DevServer;
  /** Another server of the suite. */
  second: DevServer;
  /** A server that acts as the internet, see {@link foreignUrl}. */
  foreign: DevServer;
  /** Origins that the proxy served because the test opened them, in order. */
  origins: string[];
  /** Addresses that were not carried, in order. */
  denied: string[];
  /** Hosts that are also listed. */
  listed: string;
  /** A new context of a remote browser, with a proxy for the addresses that the runner opens. */
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
      const browser = await startFarChromium(['localhost', '127.*', '*.localhost', hostname()], ['*.example']);
      await use(browser);
      await browser.close();
    },
    { scope: 'worker' },
  ],
  newContext: async ({ intentChromium, open, origins, denied, listed }, use) => {
    const transport = await open(intentChromium.cdpUrl, {
      ...(listed && { proxiedHosts: parseNetworkRules(listed) }),
      byIntent: { onPlace: (place) => origins.push(place), onDenied: (url) => denied.push(url) },
    });
    const browser = await chromium.connectOverCDP(transport);
    await use(async (options) => await browser.newContext(options));
    await browser.close();
  },
});

/** Address of a page with this content: on the internet, or on another given server. */
export function pageUrl(server: DevServer, html: string, host = 'evil.example'): string {
  return `http://${host}:${server.port}/page?html=${encodeURIComponent(html)}`;
}

export { expect } from './fixtures.ts';
