import { createServer } from 'node:http';

/** `node site.mjs PORT`: a basket. */

const PAGE = `<!doctype html><link rel="icon" href="data:,"><title>Basket</title>
<button>Add a tin</button><p role="status"></p>
<script>
  let tins = 0;
  document.querySelector('button').onclick = () => {
    tins += 1;
    document.querySelector('p').textContent = tins + ' in the basket';
  };
</script>`;

createServer((_request, response) => {
  response.setHeader('content-type', 'text/html; charset=utf-8').end(PAGE);
}).listen(Number(process.argv[2]), '127.0.0.1');
