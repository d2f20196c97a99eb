import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';

/** The site that the compatibility suite visits. */
export interface Site {
  url: string;
  close(): Promise<void>;
}

const HOME = `<!doctype html><title>compat</title><main>
  <label>Name <input id="name"></label>
  <button onclick="out.textContent='Hi '+document.getElementById('name').value">Greet</button>
  <p id="out" role="status"></p></main>
  <a href="/file.txt">Download</a> <label>File <input type="file" multiple></label>`;

/** What Playwright's `mount` expects of a component gallery. */
const GALLERY = `<!doctype html><title>gallery</title><div id="root"></div><script>
  const root = document.getElementById('root');
  window.mount = async ({ props }) => {
    const button = document.createElement('button');
    Object.assign(button, { textContent: props.title, onclick: () => props.onClick(props.title) });
    root.replaceChildren(button);
  };
  window.unmount = async () => root.replaceChildren();
</script>`;

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

const PAGES: Record<string, Answer> = {
  '/': (_request, response) => html(response, HOME),
  '/other': (_request, response) => html(response, '<!doctype html><title>other</title><p>the other page</p>'),
  '/cookie': (_request, response) => {
    response.setHeader('set-cookie', 'visited=yes');
    html(response, '<!doctype html><title>cookie</title>');
  },
  '/gallery': (_request, response) => html(response, GALLERY),
  '/headers': (request, response) => {
    response.setHeader('content-type', 'application/json').end(JSON.stringify(request.headers));
  },
  '/private': (request, response) => {
    const known = `Basic ${Buffer.from('ada:lovelace').toString('base64')}`;
    if (request.headers.authorization === known) return html(response, 'welcome');
    response.writeHead(401, { 'www-authenticate': 'Basic realm="compat"' }).end();
  },
  '/file.txt': (_request, response) => {
    response.setHeader('content-disposition', 'attachment; filename="file.txt"').end('from the site');
  },
  '/worker.js': (_request, response) => {
    response.setHeader('content-type', 'text/javascript').end('self.addEventListener("fetch", () => {});');
  },
};

/** Starts it on loopback. */
export async function startSite(): Promise<Site> {
  const server = createServer((request, response) => {
    const answer = PAGES[request.url ?? ''];
    if (answer) answer(request, response);
    else response.writeHead(404).end();
  });
  const sockets = new WebSocketServer({ server, path: '/echo' });
  sockets.on('connection', (socket) => socket.on('message', (message) => socket.send(String(message))));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      for (const socket of sockets.clients) socket.terminate();
      sockets.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function html(response: ServerResponse, text: string): void {
  response.setHeader('content-type', 'text/html').end(text);
}
