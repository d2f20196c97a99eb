import { type Browser, type BrowserContext, type BrowserContextOptions, chromium } from '@playwright/test';
import { parseNetworkRules } from '../../../src/options/network-rules.ts';
import { type DevServer, startDevServer } from './dev-server.ts';
import { test as base, LISTED } from './fixtures.ts';

interface ProxyFixtures {
  dev: DevServer;
  other: DevServer;
  secure: DevServer;
  /** A context of a browser that cannot reach this machine's loopback, with a proxy to it. */
  proxied: (rules?: string, options?: BrowserContextOptions) => Promise<BrowserContext>;
  /** A context of a browser that reaches this machine's loopback, except {@link LISTED}, which needs the proxy. */
  far: BrowserContext;
}

export const test = base.extend<ProxyFixtures>({
  dev: async ({}, use) => {
    const server = await startDevServer();
    await use(server);
    await server.close();
  },
  other: async ({}, use) => {
    const server = await startDevServer();
    await use(server);
    await server.close();
  },
  secure: async ({}, use) => {
    const server = await startDevServer({ secure: true });
    await use(server);
    await server.close();
  },
  proxied: async ({ browserUrl, open }, use) => {
    let browser: Browser | undefined;
    await use(async (rules = '<loopback>', options = {}) => {
      browser ??= await chromium.connectOverCDP(
        await open(await browserUrl(false), { proxiedHosts: parseNetworkRules(rules) }),
      );
      return await browser.newContext(options);
    });
    await browser?.close();
  },
  far: async ({ farChromium, open }, use) => {
    const transport = await open(farChromium.cdpUrl, { proxiedHosts: parseNetworkRules(LISTED) });
    const browser = await chromium.connectOverCDP(transport);
    await use(await browser.newContext());
    await browser.close();
  },
});

export { expect, LISTED } from './fixtures.ts';
