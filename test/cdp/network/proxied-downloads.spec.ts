import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Download, Page } from '@playwright/test';
import type { DevServer } from '../../support/cdp/dev-server.ts';
import { expect, LISTED, test } from '../../support/cdp/proxy-fixtures.ts';

/** Downloads from this machine's servers go directly to this machine's disk, not through the browser. */

const BYTES = 3_000_000;

async function clicked(page: Page, fields: object): Promise<Download> {
  const link = `void Object.assign(document.createElement('a'), ${JSON.stringify(fields)}).click()`;
  const [download] = await Promise.all([page.waitForEvent('download'), page.evaluate(link)]);
  return download;
}

async function open(page: unknown, { port }: DevServer, host: string): Promise<Page> {
  // Without an icon, which Chromium would request meanwhile.
  const html = encodeURIComponent('<link rel=icon href=data:,>');
  await (page as Page).goto(`http://${host}:${port}/page?html=${html}`);
  return page as Page;
}

test('downloads complete files in every way, with the names that a browser gives them', async ({ far, dev }) => {
  const found: unknown[][] = [];
  for (const host of [LISTED, 'localhost']) {
    const page = await open(await far.newPage(), dev, host);
    const downloads: Download[] = [];
    for (const fields of [
      { href: `/huge?bytes=${BYTES}` },
      { href: `/huge?bytes=${BYTES}&zipped` },
      { href: `/huge?bytes=${BYTES}&told`, download: 'named.bin' },
      { href: `/redirect?to=${encodeURIComponent(`/huge?bytes=${BYTES}`)}` },
      { href: `/huge?bytes=0` },
      { href: '/file' },
      { href: '/', download: 'page.html' },
    ]) {
      downloads.push(await clicked(page, fields));
    }
    // Two at the same time, from the same address.
    downloads.push(
      ...(await Promise.all(
        [1, 2].map(async () => await clicked(page, { href: `/huge?bytes=${BYTES}&told#${host}` })),
      )),
    );
    const seen: unknown[] = [];
    for (const download of downloads) {
      const content = await readFile(await download.path());
      const digest = createHash('sha256').update(content).digest('hex');
      seen.push([download.suggestedFilename(), content.length, digest, await download.failure()]);
    }
    found.push(seen);
  }
  expect(found[0]).toEqual(found[1]);
});

test('handles a server that breaks off, and a cancelled download', async ({ far, dev }) => {
  const failures: unknown[] = [];
  for (const host of [LISTED, 'localhost']) {
    const page = await open(await far.newPage(), dev, host);
    const broken = await clicked(page, { href: `/huge?bytes=${BYTES}&told&broken` });
    failures.push(await broken.failure());
    await expect.poll(() => dev.seen('/huge')?.closed).toBe(true);
    const endless = await clicked(page, { href: '/huge?bytes=10000000000&told' });
    await endless.cancel();
    failures.push(await endless.failure());
    await expect.poll(() => dev.seen('/huge')?.closed).toBe(true);
  }
  expect(failures).toEqual(['canceled', 'canceled', 'canceled', 'canceled']);
});

test('releases a response that does not become a download, so that its server need not wait', async ({ far, dev }) => {
  const page = await open(await far.newPage(), dev, LISTED);
  await page.setContent('<iframe sandbox src="/huge?bytes=10000000000&told"></iframe>');
  await expect.poll(() => dev.seen('/huge')).toBeDefined();
  await expect.poll(() => dev.seen('/huge')?.closed).toBe(true);
});
