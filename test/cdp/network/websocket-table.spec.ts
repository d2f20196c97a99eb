import { type BrowserContext, type BrowserContextOptions, chromium } from '@playwright/test';
import { openTransport, type TransportOptions } from '../../../src/cdp/pipeline.ts';
import { parseNetworkRules } from '../../../src/options/network-rules.ts';
import { startFarChromium } from '../../support/cdp/far-chromium.ts';
import { test as base, expect } from '../../support/cdp/fixtures.ts';
import { differences } from '../../support/cdp/request-table.ts';
import { BEHAVIOURS, observeWebSockets } from './websocket-table.ts';

/** Without options, the browser reaches this machine itself. */
const WAYS: Readonly<Record<string, TransportOptions>> = {
  local: {},
  loopback: { proxiedHosts: parseNetworkRules('<loopback>') },
  auto: { auto: { onVisit: () => undefined } },
};

type NewContext = (options?: BrowserContextOptions) => Promise<BrowserContext>;

const test = base.extend<object, { ways: [name: string, newContext: NewContext][] }>({
  ways: [
    async ({}, use) => {
      const started = await Promise.all(
        Object.entries(WAYS).map(async ([name, options]) => {
          const far = await startFarChromium(name === 'local' ? [] : ['localhost', '127.0.0.1']);
          const browser = await chromium.connectOverCDP(await openTransport(far.cdpUrl, options));
          const end = async () => {
            await browser.close();
            await far.close();
          };
          const newContext: NewContext = (given) => browser.newContext(given);
          return { way: [name, newContext] as [string, NewContext], end };
        }),
      );
      await use(started.map(({ way }) => way));
      for (const { end } of started) await end();
    },
    { scope: 'worker' },
  ],
});

for (const [what, behaviour] of Object.entries(BEHAVIOURS)) {
  test(`WebSockets: ${what}, as in a local browser`, async ({ ways }) => {
    const seen = await Promise.all(
      ways.map(async ([name, newContext]) => [name, await observeWebSockets(newContext, behaviour)] as const),
    );
    const { local, ...others } = Object.fromEntries(seen);
    for (const [name, one] of Object.entries(others)) expect.soft(differences(local, one), name).toEqual([]);
  });
}
