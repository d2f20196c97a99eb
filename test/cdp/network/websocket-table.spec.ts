import { type BrowserContext, type BrowserContextOptions, chromium, type Page } from '@playwright/test';
import { openTransport, type TransportOptions } from '../../../src/cdp/pipeline.ts';
import { parseNetworkRules } from '../../../src/options/network-rules.ts';
import { startFarChromium } from '../../support/cdp/far-chromium.ts';
import { test as base, expect } from '../../support/cdp/fixtures.ts';
import { differences } from '../../support/cdp/request-table.ts';
import { slowIf } from '../../support/property-runs.ts';
import { BEHAVIOURS, observeWebSockets } from './websocket-table.ts';

/** Without options, the browser reaches this machine itself. */
const WAYS: Readonly<Record<string, TransportOptions>> = {
  local: {},
  loopback: { proxiedHosts: parseNetworkRules('<loopback>') },
  auto: { auto: { onVisit: () => undefined } },
};

interface Way {
  name: string;
  newContext: (options?: BrowserContextOptions) => Promise<BrowserContext>;
  /** The page of the {@link SHARING} behaviours. */
  page: Page;
}

const test = base.extend<object, { ways: Way[] }>({
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
          const newContext: Way['newContext'] = (given) => browser.newContext(given);
          return { way: { name, newContext, page: await (await newContext()).newPage() }, end };
        }),
      );
      await use(started.map(({ way }) => way));
      for (const { end } of started) await end();
    },
    { scope: 'worker' },
  ],
});

/** Behaviours that leave nothing in their context: they share a page. */
const SHARING =
  /^(text, binary|a close|a broken connection|a \w+ handshake|a response that|a reset during|an invalid|a port without|a protocol|a frame is|an empty frame|a srcdoc|a (dedicated|module|blob|shared) worker|large messages)/;

/**
 * Those that a row beside them covers: a close in another form, headers from another place, a route that is installed
 * at the other moment, a page or worker that is made in another way.
 */
const LIKE_OTHERS =
  /^(a close (at once|without a code)|a close while it connects, after|a protocol that the server ignores|the page reloads|a frame is removed|languages among|headers of|a self-signed server$|page\.routeWebSocket after|context\.routeWebSocket before|connectToServer before|a route in a popup|an empty popup at once|a written popup|a srcdoc frame|a (module|blob) worker)/;

for (const [what, behaviour] of Object.entries(BEHAVIOURS)) {
  test(`WebSockets: ${what}, as in a local browser`, slowIf(LIKE_OTHERS.test(what)), async ({ ways }) => {
    const seen = await Promise.all(
      ways.map(async ({ name, newContext, page: shared }) => {
        const page = SHARING.test(what) ? shared : await (await newContext(behaviour.options)).newPage();
        const found = await observeWebSockets(page, behaviour);
        if (page !== shared) await page.context().close();
        return [name, found] as const;
      }),
    );
    const { local, ...others } = Object.fromEntries(seen);
    for (const [name, one] of Object.entries(others)) expect.soft(differences(local, one), name).toEqual([]);
  });
}
