import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium, type Page } from '@playwright/test';
import { ProxiedTraffic } from '../../../src/cdp/network/send/proxied-traffic.ts';
import { parseExposure } from '../../../src/options/expose-network.ts';
import type { DevServer } from '../../support/cdp/dev-server.ts';
import { test as base, expect } from '../../support/cdp/proxy-fixtures.ts';

/** What is counted for pages' traffic through this machine. The servers count the bytes on their connections, too. */

const test = base.extend<{ counted: { page: Page; traffic: ProxiedTraffic } }>({
  counted: async ({ browserUrl, open }, use) => {
    const traffic = new ProxiedTraffic();
    const proxiedHosts = parseExposure('<loopback>,<files>').hosts ?? undefined;
    const browser = await chromium.connectOverCDP(await open(await browserUrl(false), { proxiedHosts, traffic }));
    await use({ page: await browser.newPage({ ignoreHTTPSErrors: true }), traffic });
    await browser.close();
  },
});

const POSTED = 30_000;
/** Scripts of a page, and the least that each of them sends and receives. */
const TALKS: Record<string, { script: string; sent: number; received: number; most: number }> = {
  'a request body and its response': {
    script: `fetch('/echo', { method: 'POST', body: 'x'.repeat(${POSTED}) }).then((response) => response.text())`,
    sent: POSTED,
    received: POSTED,
    most: 3 * POSTED,
  },
  'a compressed response': {
    script: `fetch('/huge?bytes=500000&zipped').then((response) => response.text())`,
    sent: 100,
    received: 100,
    most: 100_000,
  },
  'a streamed response': {
    script: `fetch('/huge?bytes=500000').then((response) => response.text())`,
    sent: 100,
    received: 500_000,
    most: 510_000,
  },
  'a response that is not there': {
    script: `fetch('/nowhere').then((response) => response.text())`,
    sent: 100,
    received: 100,
    most: 10_000,
  },
  'messages of a WebSocket': {
    script: `new Promise((resolve) => {
      const socket = new WebSocket(location.origin.replace('http', 'ws'));
      let heard = 0;
      socket.onmessage = () => {
        heard += 1;
        if (heard === 1) socket.send('ü'.repeat(10_000));
        else resolve();
      };
    })`,
    sent: 20_000,
    received: 20_000,
    most: 42_000,
  },
};

/** Waits until the figures of server and proxy agree. */
async function expectEqual(traffic: ProxiedTraffic, server: DevServer): Promise<void> {
  const differences = () => {
    const [here, there] = [traffic.total(), server.moved()];
    return [here.sent - there.received, here.received - there.sent];
  };
  await expect.poll(differences).toEqual([0, 0]);
}

for (const scheme of ['http', 'https'] as const)
  test(`counts all bytes on the connections to a server, over ${scheme}`, async ({ counted, dev, secure }) => {
    const { page, traffic } = counted;
    const server = scheme === 'http' ? dev : secure;
    expect(traffic.total()).toEqual({ sent: 0, received: 0 });
    await page.goto(server.url);
    await expectEqual(traffic, server);
    for (const [what, { script, sent, received, most }] of Object.entries(TALKS)) {
      const before = traffic.total();
      await page.evaluate(script);
      await expectEqual(traffic, server);
      const now = traffic.total();
      expect(now.sent - before.sent, what).toBeGreaterThanOrEqual(sent);
      expect(now.received - before.received, what).toBeGreaterThanOrEqual(received);
      expect(now.sent + now.received - before.sent - before.received, what).toBeLessThan(most);
    }
    // Also when the connections are closed.
    await page.goto('about:blank');
    await server.close();
    await expectEqual(traffic, server);
  });

test('counts a file as received, and nothing for pages that load nothing through this machine', async ({ counted }) => {
  const { page, traffic } = counted;
  const directory = await mkdtemp(join(tmpdir(), 'poolwright-traffic-'));
  try {
    await page.setContent('<h1>Made by the test</h1>');
    await page.goto('data:text/html,<h1>Here</h1>');
    expect(traffic.total()).toEqual({ sent: 0, received: 0 });
    const file = join(directory, 'page.html');
    await writeFile(file, '<title>of this machine</title>'.padEnd(5_000));
    await page.goto(pathToFileURL(file).href);
    expect(await page.title()).toBe('of this machine');
    expect(traffic.total()).toEqual({ sent: 0, received: 5_000 });
  } finally {
    await rm(directory, { recursive: true });
  }
});
