import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Size of the only large asset, in bytes. */
export const ASSET_BYTES = 200_000;

/** A page with an asset, a cookie and a download: enough to show that a real browser visited it. */
export async function startSite() {
  const server = createServer((request, response) => {
    if (request.url === '/asset.js') {
      response.setHeader('content-type', 'text/javascript');
      response.setHeader('cache-control', 'no-store');
      return response.end(`/*${'x'.repeat(ASSET_BYTES)}*/ document.title = 'with asset';`);
    }
    if (request.url === '/file.txt') {
      response.setHeader('content-disposition', 'attachment; filename="file.txt"');
      return response.end('from the site');
    }
    response.setHeader('content-type', 'text/html');
    response.setHeader('set-cookie', 'visited=yes');
    // Without an icon the browser requests one, possibly while its page is closing and nothing carries the request.
    return response.end(`<!doctype html><link rel="icon" href="data:,"><title>site</title><h1>Hello</h1>
      <label>Name <input id="name"></label><button onclick="out.textContent='Hi '+document.getElementById('name').value">Greet</button>
      <p id="out" role="status"></p><a href="/file.txt">Download</a><script src="/asset.js"></script>`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
