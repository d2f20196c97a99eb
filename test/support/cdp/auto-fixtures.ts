import { type BrowserContext, type BrowserContextOptions, chromium } from '@playwright/test';
import { parseNetworkRules } from '../../../src/options/network-rules.ts';
import { type DevServer, startDevServer } from './dev-server.ts';
import { test as base } from './fixtures.ts';

interface AutoFixtures {
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

export const test = base.extend<AutoFixtures>({
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
  newContext: async ({ autoChromium, open, origins, denied, listed }, use) => {
    const transport = await open(autoChromium.cdpUrl, {
      ...(listed && { proxiedHosts: parseNetworkRules(listed) }),
      auto: { onVisit: (origin) => origins.push(origin), onDenied: (url) => denied.push(url) },
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
