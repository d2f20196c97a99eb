import { mkdir, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { WebSocket } from 'ws';
import { errorMessage } from '../../common/error-message.ts';
import { listenOn } from '../../common/platform/listen-on.ts';
import { isFromPage, isOwnHost, refuseOtherUsers } from '../../common/platform/local-access.ts';
import { boundedSend, closeSocket, INTERNAL_ERROR, NORMAL, toolSockets } from '../sockets/web-socket.ts';
import { closeReply, type EndpointClient } from './endpoint-client.ts';

/** Chromium's port for tools on this machine. */
export interface DebuggingPort {
  port: number;
  /** Resolves when a tool has closed the browser. */
  closed: Promise<void>;
}

/**
 * Opens the port of a browser that is leased, without a token, as Chromium's has none.
 * @param userDataDir gets `DevToolsActivePort`; is made, as Chromium does, if it is missing
 * @throws OptionsError for a port that is in use
 */
export async function openDebuggingPort(
  endpoint: EndpointClient,
  { port: asked, userDataDir }: { port: number; userDataDir: string | null },
): Promise<DebuggingPort> {
  const server = createServer();
  const sockets = toolSockets();
  refuseOtherUsers(server);
  const port = await listenOn(server, { host: '127.0.0.1', port: asked });
  const mayPass = (request: IncomingMessage) => isOwnHost(request, port) && !isFromPage(request);
  server.on('request', (request, response) => {
    if (mayPass(request)) void respond(endpoint, request, response);
    else response.writeHead(403).end();
  });
  const closed = new Promise<void>((resolve) => {
    server.on('upgrade', (request, socket, head) => {
      socket.on('error', () => socket.destroy());
      const path = mayPass(request) ? pathOf(endpoint, request.url ?? '') : null;
      if (path === null) socket.end('HTTP/1.1 403 Refused\r\nconnection: close\r\n\r\n');
      else
        sockets.handleUpgrade(request, socket, head, (opened) => void bridge(endpoint, opened, path, request, resolve));
    });
  });
  const browser = `/devtools/browser/${endpoint.id}`;
  if (userDataDir !== null) {
    await mkdir(userDataDir, { recursive: true });
    await writeFile(join(userDataDir, 'DevToolsActivePort'), `${port}\n${browser}`);
  }
  process.stderr.write(`\nDevTools listening on ws://127.0.0.1:${port}${browser}\n\n`);
  return { port, closed };
}

/** Where a socket of this port leads at the endpoint; null: nowhere. */
function pathOf({ id }: EndpointClient, url: string): string | null {
  const [, kind, target] = /^\/devtools\/(browser|page)\/([\w-]+)$/.exec(url) ?? [];
  if (kind === undefined) return null;
  return kind === 'browser' ? `devtools/browser/${id}` : `devtools/page/${id}.${target}`;
}

/** Never rejects. */
async function respond(endpoint: EndpointClient, request: IncomingMessage, response: ServerResponse): Promise<void> {
  request.resume();
  const [path = '', given = ''] = (request.url ?? '').slice(1).split(/\?(.*)/s);
  if (!path.startsWith('json')) return void response.writeHead(404).end();
  try {
    const { status, body } = await endpoint.ask(path, given === '' ? {} : { url: decoded(given) });
    response
      .writeHead(status, { 'content-type': 'application/json; charset=UTF-8' })
      .end(endpoint.localized(body, request.headers.host ?? ''));
  } catch (error) {
    response.writeHead(503).end(errorMessage(error));
  }
}

/** `/json/new?<address>` */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

async function bridge(
  endpoint: EndpointClient,
  tool: WebSocket,
  path: string,
  { headers }: IncomingMessage,
  onClose: () => void,
) {
  tool.pause();
  tool.on('error', () => undefined);
  try {
    const browser = await endpoint.connect(path, headers['user-agent'] ?? '');
    const sendToBrowser = boundedSend(browser, tool);
    const sendToTool = boundedSend(tool, browser);
    tool.on('message', (data) => {
      const text = String(data);
      const reply = closeReply(text);
      if (reply === null) sendToBrowser(text);
      else tool.send(reply, onClose);
    });
    browser.on('message', (data) => sendToTool(String(data)));
    tool.on('close', () => browser.close());
    browser.on('close', (_code, reason) => closeSocket(tool, NORMAL, String(reason)));
    if (tool.readyState !== tool.OPEN) browser.close();
    browser.resume();
    tool.resume();
  } catch (error) {
    closeSocket(tool, INTERNAL_ERROR, errorMessage(error));
  }
}
