import { once } from 'node:events';
import { createServer } from 'node:http';

const PAGE = `<!doctype html><link rel="icon" href="data:,"><title>Tea house</title>
<h1>Teas</h1><input aria-label="Search"><ul><li>Sencha</li><li>Assam</li><li>Oolong</li></ul>
<script>
  document.querySelector('input').oninput = ({ target }) => {
    for (const tea of document.querySelectorAll('li')) tea.hidden = !tea.textContent.includes(target.value);
  };
</script>`;

/** Vitest's global setup: the site under test, on a free port; what it returns ends it. */
export default async function startSite(project) {
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8').end(PAGE);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  project.provide('siteURL', `http://127.0.0.1:${server.address().port}`);
  return () => {
    server.close();
    server.closeAllConnections();
  };
}
