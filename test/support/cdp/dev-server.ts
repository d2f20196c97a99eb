import { execFileSync } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline, Readable } from 'node:stream';
import { createGzip, gzipSync } from 'node:zlib';
import { WebSocketServer } from 'ws';

/** One request as the server received it. */
export interface SeenRequest {
  method: string;
  path: string;
  /** Without the question mark. */
  query: string;
  headers: IncomingMessage['headers'];
  body: Buffer;
  /** Whether its connection, or the response, has ended. */
  closed: boolean;
}

/** A suite's own server on this machine. */
export interface DevServer {
  /** `http://localhost:<port>`, or https */
  url: string;
  port: number;
  requests: SeenRequest[];
  /** Returns the last request for a path. */
  seen(path: string): SeenRequest | undefined;
  /** Returns the number of open WebSockets. */
  sockets(): number;
  /** All WebSockets so far, including closed ones. */
  upgrades: { path: string; origin: string | undefined }[];
  /** Bytes on its connections so far, without TLS. */
  moved(): { sent: number; received: number };
  close(): Promise<void>;
}

export const LARGE_BYTES = 70_000_001;

/** Emits `release` for the bodies that wait for it. */
const held = new EventEmitter();

/**
 * Bytes 0, 1, 2, … 250, 0, … produced on demand; if `until` is below `bytes`, the connection breaks there. With
 * `isHeld`, the rest follows the first bytes after a request for `/release`.
 */
async function* hugeBody(bytes: number, until: number, isHeld: boolean): AsyncGenerator<Buffer> {
  const pattern = Buffer.from(Array.from({ length: 251 * 256 }, (_, index) => index % 251));
  for (let at = 0; at < until; at += pattern.length) {
    yield pattern.subarray(0, Math.min(pattern.length, until - at));
    if (isHeld && at === 0) await once(held, 'release');
  }
  if (until < bytes) throw new Error('as asked');
}

type Reply = (request: SeenRequest, response: ServerResponse, query: URLSearchParams) => unknown;

const html = (response: ServerResponse, body: string) =>
  response.setHeader('content-type', 'text/html').end(`<!doctype html><title>dev</title>${body}`);

const replies: Record<string, Reply> = {
  '/': (_request, response) =>
    html(
      response,
      '<link rel="stylesheet" href="/style.css"><script src="/app.js"></script><img src="/pixel.svg"><h1>Dev</h1>',
    ),
  // A page with any content that the test provides.
  '/page': (_request, response, query) => html(response, query.get('html') ?? ''),
  // Headers with any bytes, one character each.
  '/headers': (_request, response, query) => {
    for (const [name, value] of query) response.appendHeader(name, Buffer.from(value, 'base64').toString('latin1'));
    // A buffer: before a text body, Node would write the headers as UTF-8 too.
    response.end(Buffer.from('sent'));
  },
  '/style.css': (_request, response) =>
    response.setHeader('content-type', 'text/css').end('h1 { color: rgb(1, 2, 3) }'),
  '/app.js': (_request, response) =>
    response
      .setHeader('content-type', 'text/javascript')
      .setHeader('content-encoding', 'gzip')
      .end(gzipSync('window.app = "loaded"')),
  '/pixel.svg': (_request, response) =>
    response
      .setHeader('content-type', 'image/svg+xml')
      .end('<svg xmlns="http://www.w3.org/2000/svg" width="7" height="7"/>'),
  '/echo': ({ method, headers, body }, response) =>
    response
      .setHeader('content-type', 'application/json')
      .end(JSON.stringify({ method, headers, body: body.toString('base64') })),
  '/size': ({ body }, response) => response.end(String(body.length)),
  '/cookies': (_request, response) =>
    response
      .setHeader('set-cookie', [
        'first=1; Path=/',
        'second=2; Path=/; HttpOnly; SameSite=Lax',
        'third=3; Path=/; Max-Age=3600',
      ])
      .end('set'),
  '/redirect': (_request, response, query) =>
    response
      .writeHead(Number(query.get('status') ?? 302), { location: query.get('to') ?? '/', 'set-cookie': 'hop=1' })
      .end(),
  '/loop': (_request, response) => response.writeHead(302, { location: '/loop' }).end(),
  '/status': (_request, response, query) => {
    const status = Number(query.get('code'));
    response
      .writeHead(status, { 'x-mark': 'here', 'content-type': 'text/plain' })
      .end([204, 304].includes(status) ? undefined : `status ${status}`);
  },
  '/early': (_request, response) => {
    response.writeProcessing();
    response.writeEarlyHints({ link: '</style.css>; rel=preload; as=style' });
    response.end('after 1xx');
  },
  '/hang': () => undefined,
  '/reset': (_request, response) => response.socket?.destroy(),
  '/large': (_request, response) =>
    response.setHeader('content-type', 'application/octet-stream').end(Buffer.alloc(LARGE_BYTES, 7)),
  '/huge': (_request, response, query) => {
    const bytes = Number(query.get('bytes'));
    const zipped = query.has('zipped');
    if (query.has('told')) response.setHeader('content-length', bytes);
    if (zipped) response.setHeader('content-encoding', 'gzip');
    response.setHeader('content-type', 'application/octet-stream');
    const until = query.has('broken') ? Number(query.get('broken') || bytes / 2) : bytes;
    const body = Readable.from(hugeBody(bytes, until, query.has('held')));
    // A compressed body may need more than its first bytes before it begins.
    response.flushHeaders();
    if (zipped) pipeline(body, createGzip(), response, () => undefined);
    else pipeline(body, response, () => undefined);
  },
  '/release': (_request, response) => response.writeHead(held.emit('release') ? 200 : 404).end(),
  '/stream': (_request, response) => {
    response.write('one,');
    setImmediate(() => response.end('two'));
  },
  '/file': (_request, response) =>
    response.setHeader('content-disposition', 'attachment; filename="a.txt"').end('a download'),
  '/private': ({ headers }, response) =>
    headers.authorization === `Basic ${Buffer.from('ada:secret').toString('base64')}`
      ? html(response, 'inside')
      : response.writeHead(401, { 'www-authenticate': 'Basic realm="dev"' }).end('who?'),
  '/cors': ({ headers }, response) =>
    response
      .setHeader('access-control-allow-origin', headers.origin ?? '*')
      .setHeader('access-control-allow-headers', 'content-type,x-own')
      .setHeader('access-control-allow-methods', 'PUT')
      .end('shared'),
  '/worker.js': (_request, response) =>
    response
      .setHeader('content-type', 'text/javascript')
      .end('onmessage = async ({ data }) => postMessage(await (await fetch(data)).text())'),
  '/sw.js': (_request, response) =>
    response
      .setHeader('content-type', 'text/javascript')
      .end(`self.addEventListener('install', () => self.skipWaiting());
        self.addEventListener('activate', (event) => event.waitUntil(clients.claim()));
        self.addEventListener('fetch', (event) => {
          if (event.request.url.endsWith('/through')) event.respondWith(fetch('/echo').then(async (answer) => new Response('sw:' + (await answer.json()).method)));
        });`),
};

/**
 * Starts a server, on any free port unless one is given; with `secure`, it has an untrusted certificate.
 * @param host the address that it listens on
 */
export async function startDevServer({
  secure = false,
  port: wanted = 0,
  host = '127.0.0.1',
} = {}): Promise<DevServer> {
  const requests: SeenRequest[] = [];
  const upgrades: DevServer['upgrades'] = [];
  const listener: RequestListener = (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { pathname, searchParams } = new URL(request.url ?? '/', 'http://any');
      const seen = {
        method: request.method ?? '',
        path: pathname,
        query: String(searchParams),
        headers: request.headers,
        body: Buffer.concat(chunks),
        closed: false,
      };
      requests.push(seen);
      response.on('close', () => {
        seen.closed = true;
      });
      const reply = replies[pathname];
      if (reply) reply(seen, response, searchParams);
      else response.writeHead(404).end('not here');
    });
  };
  const server = secure ? createSecureServer(selfSigned(), listener) : createServer(listener);
  const connections: Socket[] = [];
  server.on(secure ? 'secureConnection' : 'connection', (socket: Socket) => connections.push(socket));
  const sockets = new WebSocketServer({ server, handleProtocols: (offered) => [...offered][0] ?? false });
  sockets.on('connection', (socket, request) => {
    upgrades.push({ path: request.url ?? '', origin: request.headers.origin });
    socket.send(JSON.stringify({ path: request.url, headers: request.headers, protocol: socket.protocol }));
    socket.on('message', (data, binary) => {
      if (String(data) === 'bye') socket.close(4001, 'as asked');
      else if (String(data) === 'cut') socket.terminate();
      else socket.send(data, { binary });
    });
  });
  await new Promise<void>((resolve) => server.listen(wanted, host, resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `${secure ? 'https' : 'http'}://localhost:${port}`,
    port,
    requests,
    seen: (path) => requests.findLast((request) => request.path === path),
    sockets: () => sockets.clients.size,
    upgrades,
    moved: () => ({
      sent: connections.reduce((sum, { bytesWritten }) => sum + bytesWritten, 0),
      received: connections.reduce((sum, { bytesRead }) => sum + bytesRead, 0),
    }),
    close: () =>
      new Promise<void>((resolve) => {
        for (const socket of sockets.clients) socket.terminate();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** openssl's arguments for a new key: an RSA key takes 0.15 s. */
export const EC_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256'];

let certificate: { key: Buffer; cert: Buffer } | undefined;

/** Returns a certificate for `localhost` that no browser trusts, and its key: one per process. */
export function selfSigned(): { key: Buffer; cert: Buffer } {
  certificate ??= createCertificate();
  return certificate;
}

function createCertificate(): { key: Buffer; cert: Buffer } {
  const directory = mkdtempSync(join(tmpdir(), 'poolwright-cert-'));
  const [key, cert] = [join(directory, 'key.pem'), join(directory, 'cert.pem')];
  try {
    const made = ['req', '-x509', ...EC_KEY, '-nodes', '-days', '1', '-subj', '/CN=localhost'];
    execFileSync('openssl', [...made, '-keyout', key, '-out', cert], { stdio: 'ignore' });
    return { key: readFileSync(key), cert: readFileSync(cert) };
  } finally {
    rmSync(directory, { recursive: true });
  }
}
