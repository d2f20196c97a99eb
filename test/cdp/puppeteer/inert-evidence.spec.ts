import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { inertHtml } from '../../../src/features/evidence/page-evidence.ts';
import { test as base, expect } from '../../support/cdp/fixtures.ts';

/** The evidence of a failed test is a document of someone else, which a reader opens from the disk. */

const test = base.extend<{ elsewhere: { url: string; connections: string[] } }>({
  elsewhere: async ({}, use) => {
    const connections: string[] = [];
    const server = createServer((request, response) => {
      connections.push(String(request.url));
      response.setHeader('access-control-allow-origin', '*').end('<p>elsewhere</p>');
    });
    server.on('connection', () => connections.push('connection'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    await use({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, connections });
    server.closeAllConnections();
    server.close();
  },
});

/** Each of them connects to the server by itself when the document is opened. */
const DOCUMENTS: Record<string, (url: string) => string> = {
  'an image': (url) => `<img src="${url}/a.png">`,
  'a style sheet': (url) => `<link rel="stylesheet" href="${url}/a.css">`,
  'an imported style sheet': (url) => `<style>@import "${url}/a.css";</style>`,
  'a background': (url) => `<p style="background: url(${url}/a.png)">text</p>`,
  'a font': (url) =>
    `<style>@font-face { font-family: a; src: url(${url}/a.woff); }</style><p style="font-family: a">x`,
  'a frame': (url) => `<iframe src="${url}/frame"></iframe>`,
  "a frame's own document": (url) =>
    `<iframe srcdoc="<meta http-equiv=refresh content='0;url=${url}/in-frame'>"></iframe>`,
  'an escaped document in one': (url) =>
    `<iframe srcdoc="<iframe srcdoc='<meta http&amp;#45;equiv=refresh content=&amp;quot;0;url=${url}/deep&amp;quot;>'></iframe>"></iframe>`,
  'a script': (url) => `<script src="${url}/a.js"></script><img src="x:" onerror="location = '${url}/error'">`,
  'a refresh': (url) => `<meta http-equiv="refresh" content="0;url=${url}/refreshed">`,
  'a refresh in capitals': (url) => `<META HTTP-EQUIV = "Refresh" CONTENT="0;url=${url}/refreshed">`,
  'a video': (url) => `<video src="${url}/a.mp4" poster="${url}/a.jpg" autoplay></video>`,
  'an object': (url) => `<object data="${url}/a.svg"></object><embed src="${url}/a.pdf">`,
};

for (const [what, documentAt] of Object.entries(DOCUMENTS)) {
  test(`evidence with ${what} connects nowhere, and stays`, async ({ near, elsewhere, directory }) => {
    const { url, connections } = elsewhere;
    const page = await near.newPage();
    const open = async (name: string, html: string) => {
      const file = join(directory, name);
      await writeFile(file, html);
      const address = pathToFileURL(file).href;
      await page.goto(address);
      return address;
    };
    const html = `<!DOCTYPE html>\n<html><head></head><body>${documentAt(url)}<h1>Ordér 42</h1></body></html>`;

    const address = await open('evidence.html', inertHtml(html));
    await expect(page.locator('h1')).toHaveText('Ordér 42');
    // The unchanged document, opened later, connects: then the other one has had the time to.
    await open('original.html', html).catch(() => undefined);
    await expect.poll(() => connections.length).toBeGreaterThan(0);
    const late = connections.length;
    await page.close();
    connections.length = 0;

    const again = await near.newPage();
    await again.goto(address);
    await again.waitForLoadState('networkidle');
    expect([connections, again.url()], `${late} connections by the original`).toEqual([[], address]);
    await again.close();
  });
}

test('evidence has no links that connect in advance, where a browser does that for files', () => {
  expect(inertHtml('<!DOCTYPE html><link rel="preconnect" href="http://a.test"><LINK\nrel="icon">')).not.toMatch(
    /<link/i,
  );
});

test('evidence has the style of the page, and its pictures in data URLs', async ({ near }) => {
  const page = await near.newPage();
  const pixel = 'data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7';
  await page.setContent(inertHtml(`<style>p { color: rgb(1, 2, 3) }</style><p>text</p><img src="${pixel}">`));
  await expect(page.locator('p')).toHaveCSS('color', 'rgb(1, 2, 3)');
  await expect(page.locator('img')).toHaveJSProperty('naturalWidth', 1);
  await page.close();
});
