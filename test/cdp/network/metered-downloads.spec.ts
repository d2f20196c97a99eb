import { chromium, type Page } from '@playwright/test';
import { Meter } from '../../../src/cdp/figures.ts';
import { ProxiedTraffic } from '../../../src/cdp/network/send/proxied-traffic.ts';
import { parseNetworkRules } from '../../../src/options/network-rules.ts';
import { expect, LISTED, test } from '../../support/cdp/proxy-fixtures.ts';

const BYTES = 500_000;

async function download(page: Page, fields: object): Promise<void> {
  const link = `void Object.assign(document.createElement('a'), ${JSON.stringify(fields)}).click()`;
  const [download] = await Promise.all([page.waitForEvent('download'), page.evaluate(link)]);
  await download.path();
}

test('counts downloads that the browser fetched, but not proxied ones or those from routes', async ({
  farChromium,
  open,
  dev,
}) => {
  const meter = new Meter();
  const traffic = new ProxiedTraffic();
  const proxiedHosts = parseNetworkRules(LISTED);
  const transport = await open(farChromium.cdpUrl, { meter, proxiedHosts, traffic });
  const browser = await chromium.connectOverCDP(transport);
  const page = await browser.newPage();
  const path = `/huge?bytes=${BYTES}&told`;
  for (const [host, counted] of [
    [LISTED, false],
    ['localhost', true],
  ] as const) {
    // Without an icon, which Chromium would request meanwhile.
    await page.goto(`http://${host}:${dev.port}/page?html=${encodeURIComponent('<link rel=icon href=data:,>')}`);
    for (const fields of [{ href: path }, { href: path, download: 'huge' }]) {
      const [before, carried] = [meter.total(), traffic.total().received];
      await download(page, fields);
      const proxied = traffic.total().received - carried;
      const bytes = meter.total() - before;
      expect(counted ? bytes : proxied).toBeGreaterThanOrEqual(BYTES);
      expect(counted ? proxied : bytes).toBeLessThan(10_000);
    }
  }
  await page.route('**/huge?*', (route) =>
    route.fulfill({ contentType: 'application/octet-stream', body: Buffer.alloc(BYTES) }),
  );
  for (const again of [1, 2]) {
    const before = meter.total();
    await download(page, { href: path });
    expect(meter.total() - before, `routed, time ${again}`).toBeLessThan(10_000);
  }
  await page.unrouteAll();
  const before = meter.total();
  await download(page, { href: path });
  expect(meter.total() - before).toBeGreaterThanOrEqual(BYTES);
  await browser.close();
});
