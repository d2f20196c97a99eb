import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { chromium, type Page } from '@playwright/test';
import type { TransportOptions } from '../../../src/cdp/pipeline.ts';
import type { CdpTransport } from '../../../src/cdp/transport/transport.ts';
import { parseNetworkRules } from '../../../src/options/network-rules.ts';
import { ClientAccount } from '../../models/cdp/client-account.ts';
import { test as base, expect } from '../../support/cdp/auto-fixtures.ts';
import { slowIf } from '../../support/property-runs.ts';

/** A test's server that hangs: everything that waits for it ends with its page and is released. */

/** The ways in which a server hangs. */
const HANGS: Record<string, (response: ServerResponse) => void> = {
  'before the head': () => undefined,
  'after the head': (response) => response.writeHead(200, { 'content-type': 'text/html' }).flushHeaders(),
  'in its body': (response) => {
    response.writeHead(200, { 'content-type': 'text/html', 'content-length': 100 }).write('<p>begun');
  },
  'with an endless body': (response) => {
    response.writeHead(200, { 'content-type': 'text/html' });
    const timer = setInterval(() => response.write('<p>more'), 20);
    response.once('close', () => clearInterval(timer));
  },
};

/** The ways in which a hanging request ends. */
const ENDS: Record<string, (page: Page, url: string) => Promise<unknown>> = {
  'navigates away': (page, url) => page.goto(url),
  'is closed': (page) => page.close(),
  'closes with its context': (page) => page.context().close(),
  crashes: async (page) => {
    const crash = page.waitForEvent('crash');
    await page.goto('chrome://crash').catch(() => undefined);
    await crash;
    await page.close();
  },
};

const WAYS: Record<string, Partial<TransportOptions>> = {
  listed: { proxiedHosts: parseNetworkRules('localhost') },
  auto: { auto: { onVisit: () => undefined } },
};

const test = base.extend<{ hanging: { url: string; open: Set<ServerResponse> }; how: string }>({
  how: ['', { option: true }],
  hanging: async ({ how }, use) => {
    const open = new Set<ServerResponse>();
    const server: Server = createServer((request, response) => {
      if (!request.url?.startsWith('/hang')) return void response.setHeader('content-type', 'text/html').end('<p>here');
      open.add(response);
      response.once('close', () => open.delete(response));
      HANGS[how]?.(response);
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    await use({ url: `http://localhost:${(server.address() as AddressInfo).port}/`, open });
    server.closeAllConnections();
    server.close();
  },
});

/** The transport as Playwright uses it, with a record of commands and responses. */
function counted(transport: CdpTransport, account: ClientAccount) {
  const counting = {
    onmessage: undefined as ((message: object) => void) | undefined,
    onclose: undefined as ((reason?: string) => void) | undefined,
    send: (message: object) => {
      account.asks(message);
      transport.send(message);
    },
    close: () => transport.close(),
  };
  transport.onmessage = (message) => {
    account.gets(message);
    counting.onmessage?.(message);
  };
  transport.onclose = (reason) => counting.onclose?.(reason);
  return counting;
}

/** Each of the servers with one of the ways: what hangs is the same proxied request. */
const PAIRS = ['before the head, auto', 'in its body, auto', 'with an endless body, listed'];

for (const how of Object.keys(HANGS)) {
  test.describe(how, () => {
    test.use({ how });

    for (const [way, options] of Object.entries(WAYS)) {
      test(
        `responds to every command when a server hangs ${how}: ${way}`,
        slowIf(!PAIRS.includes(`${how}, ${way}`)),
        async ({ autoChromium, open, hanging }) => {
          test.slow();
          const account = new ClientAccount();
          const browser = await chromium.connectOverCDP(counted(await open(autoChromium.cdpUrl, options), account));
          for (const [end, finish] of Object.entries(ENDS)) {
            const context = await browser.newContext();
            const page = await context.newPage();
            await page.goto(hanging.url);
            await page.evaluate(`void fetch('/hang?fetch').catch(() => 0), void (new Image().src = '/hang?image')`);
            await expect.poll(() => hanging.open.size, end).toBe(2);
            await expect(page.goto(`${hanging.url}hang?page`, { timeout: 1_000 })).rejects.toThrow('Timeout');
            await finish(page, hanging.url);
            await expect.poll(() => hanging.open.size, end).toBe(0);
            await context.close();
            await expect.poll(() => account.unanswered, end).toEqual([]);
            expect(account.faults, end).toEqual([]);
          }
          await browser.close();
        },
      );
    }
  });
}
