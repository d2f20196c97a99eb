import { startDevServer } from '../../support/cdp/dev-server.ts';
import { expect, test } from '../../support/e2e/fixtures.ts';

/** Large bodies pass through the worker that proxies them. These tests measure how much memory the worker needs. */

test.use({ serviceOptions: { allowLoopback: false } });

/** More than the limits below, however much of it is in memory. */
const BYTES = 200_000_000;
/** What a page sends. A browser that serialises it, beside others on a busy machine, does not respond meanwhile. */
const SENT_BYTES = 50_000_000;
/** For one of them, in ms: how fast a body passes is measured by bench/, not here. */
const SUITE_TEST_MS = 900_000;

const SUITE = `
  import { statSync } from 'node:fs';
  /** Peak memory of this worker so far, in MB. */
  const peak = () => process.resourceUsage().maxRSS / 1024;

  for (const attribute of [{}, { download: 'huge.bin' }]) {
    test('a download ' + JSON.stringify(attribute), async ({ page }) => {
      await page.goto('/');
      const before = peak();
      const begun = page.waitForEvent('download');
      await page.evaluate(
        (fields) => Object.assign(document.createElement('a'), { href: '/huge?bytes=${BYTES}&told' }, fields).click(),
        attribute,
      );
      const { size } = statSync(await (await begun).path());
      expect(size).toBe(${BYTES});
      console.log('DOWNLOAD ' + (peak() - before));
    });
  }
  test('an answer', async ({ page }) => {
    await page.goto('/');
    const before = peak();
    const size = await page.evaluate(async () => {
      let size = 0;
      for await (const piece of (await fetch('/huge?bytes=${BYTES}&told')).body) size += piece.length;
      return size;
    });
    expect(size).toBe(${BYTES});
    console.log('ANSWER ' + (peak() - before));
  });
  test('a body', async ({ page }) => {
    await page.goto('/');
    const before = peak();
    const answer = await page.evaluate(async () => {
      const body = new Uint8Array(${SENT_BYTES}).fill(65);
      return await (await fetch('/size', { method: 'POST', body })).text();
    });
    expect(answer).toBe('${SENT_BYTES}');
    console.log('BODY ' + (peak() - before));
  });`;

test("large bodies › do not fill the worker's memory", { tag: ['@versions', '@slow'] }, async ({ runSuite }) => {
  test.setTimeout(5 * SUITE_TEST_MS);
  const dev = await startDevServer();
  try {
    const run = await runSuite({
      config: `timeout: ${SUITE_TEST_MS},`,
      tests: SUITE,
      args: ['--workers=1'],
      env: { SITE_URL: dev.url },
    });
    const grew = (what: string) => {
      const told = [...run.output.matchAll(new RegExp(`${what} ([\\d.]+)`, 'g'))].map(([, more]) => Number(more));
      expect(told, what).not.toEqual([]);
      return Math.max(...told);
    };
    // Less than the size of the response, which is never in memory as a whole.
    expect(grew('ANSWER')).toBeLessThan(150);
    // The browser does not handle it: it goes from its server to the disk.
    expect(grew('DOWNLOAD')).toBeLessThan(100);
    // The browser sends it twice, each time more than twice as large; this plus some copies is the limit.
    expect(grew('BODY')).toBeLessThan(900);
  } finally {
    await dev.close();
  }
});
