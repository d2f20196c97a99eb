import { once } from 'node:events';
import { createServer } from 'node:http';

const MINUTES = { Sencha: 2, Assam: 4, Oolong: 3, Rooibos: 12 };
/** How long a minute takes here, in ms. */
const MINUTE = 300;

/** A page for each tea, on a free port. */
export async function startSite() {
  const server = createServer((request, response) => {
    const tea = request.url.slice(1);
    response.setHeader('content-type', 'text/html; charset=utf-8');
    if (!Object.hasOwn(MINUTES, tea)) return response.writeHead(404).end();
    const minutes = MINUTES[tea];
    response.end(`<!doctype html><link rel="icon" href="data:,"><h1>${tea}</h1><p>Brewing</p>
      <script>
        const ready = () => (document.querySelector('p').textContent = 'Ready after ${minutes} minutes');
        setTimeout(ready, ${minutes * MINUTE});
      </script>`);
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
