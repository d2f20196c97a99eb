import { once } from 'node:events';
import { createServer } from 'node:http';

const PAGE = `<!doctype html><link rel="icon" href="data:,"><h1>Sencha</h1><output></output>
<script>document.querySelector('output').textContent = '12.50 €';</script>`;

/** A page with a price, on a free port. */
export async function startSite() {
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8').end(PAGE);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
