import { createServer } from 'node:http';

/** `node site.mjs PORT`: a price, as the browser's own language and time zone have it. */

const PAGE = `<!doctype html><link rel="icon" href="data:,"><title>Price</title>
<p data-testid="price"></p><p data-testid="zone"></p>
<script>
  const show = (id, text) => { document.querySelector('[data-testid=' + id + ']').textContent = text; };
  show('price', new Intl.NumberFormat(navigator.language, { style: 'currency', currency: 'EUR' }).format(1234.5));
  show('zone', new Intl.DateTimeFormat().resolvedOptions().timeZone);
</script>`;

createServer((_request, response) => {
  response.setHeader('content-type', 'text/html; charset=utf-8').end(PAGE);
}).listen(Number(process.argv[2]), '127.0.0.1');
