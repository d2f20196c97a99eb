import { createServer } from 'node:http';

/** `node site.mjs PORT`: a kettle that takes a second. */

const PAGE = `<!doctype html><link rel="icon" href="data:,"><title>Kettle</title>
<button>Put the kettle on</button><p role="status"></p>
<script>
  document.querySelector('button').onclick = () => {
    setTimeout(() => { document.querySelector('p').textContent = 'Ready'; }, 1000);
  };
</script>`;

createServer((_request, response) => {
  response.setHeader('content-type', 'text/html; charset=utf-8').end(PAGE);
}).listen(Number(process.argv[2]), '127.0.0.1');
