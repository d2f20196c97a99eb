import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, connect, createServer as createRaw, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EC_KEY } from './dev-server.ts';

/** Proxies on this machine for tests, and certificates of clients. */

export interface TestProxy {
  port: number;
  /** What was requested from it: method and target, and `Proxy-Authorization` if there was one. */
  seen: string[];
  close(): Promise<void>;
}

/**
 * An HTTP proxy.
 * @param credentials `name:password` that it requires
 * @param tls its key and certificate, if it is reached by HTTPS
 */
export async function startHttpProxy(credentials?: string, tls?: object): Promise<TestProxy> {
  const seen: string[] = [];
  const wanted = credentials && `Basic ${Buffer.from(credentials).toString('base64')}`;
  const note = (method: string | undefined, target: string | undefined, given: string | undefined) => {
    seen.push([method, target, ...(given === undefined ? [] : [given])].join(' '));
    return wanted === undefined || wanted === given;
  };
  const challenge = { 'proxy-authenticate': 'Basic realm="proxy"' };
  const server = tls ? createSecureServer(tls) : createServer();
  server.on('request', (incoming, response) => {
    if (!note(incoming.method, incoming.url, incoming.headers['proxy-authorization'])) {
      response.writeHead(407, challenge).end('who?');
      return;
    }
    const { 'proxy-authorization': _own, 'proxy-connection': _hop, ...headers } = incoming.headers;
    const { port, pathname, search } = new URL(String(incoming.url));
    const to = { host: '127.0.0.1', port, path: `${pathname}${search}` };
    const onward = request({ ...to, method: incoming.method, headers, agent: false }, (answer) => {
      response.writeHead(answer.statusCode ?? 0, answer.rawHeaders);
      answer.pipe(response);
    });
    onward.on('error', () => response.writeHead(502).end());
    incoming.pipe(onward);
  });
  server.on('connect', (incoming, socket: Socket) => {
    if (!note('CONNECT', incoming.url, incoming.headers['proxy-authorization'])) {
      socket.end(
        `HTTP/1.1 407 Who\r\nProxy-Authenticate: ${challenge['proxy-authenticate']}\r\nContent-Length: 0\r\n\r\n`,
      );
      return;
    }
    const { hostname, port } = new URL(`ws://${incoming.url}`);
    const onward = joined(socket, hostname, Number(port));
    onward.on('connect', () => socket.write('HTTP/1.1 200 OK\r\n\r\n'));
    onward.on('error', () => socket.end('HTTP/1.1 502 No\r\n\r\n'));
  });
  return await listening(server, seen);
}

/** A SOCKS5 proxy without credentials. */
export async function startSocksProxy(): Promise<TestProxy> {
  const seen: string[] = [];
  const server = createRaw(async (socket) => {
    socket.on('error', () => undefined);
    await once(socket, 'data');
    socket.write(Buffer.from([5, 0]));
    const [asked] = (await once(socket, 'data')) as [Buffer];
    const isName = asked[3] === 3;
    const end = isName ? 5 + Number(asked[4]) : 8;
    const host = isName ? asked.toString('latin1', 5, end) : [...asked.subarray(4, 8)].join('.');
    seen.push(`SOCKS5 ${host}:${asked.readUInt16BE(end)}`);
    const onward = joined(socket, host, asked.readUInt16BE(end));
    const reply = (status: number) => Buffer.from([5, status, 0, 1, 0, 0, 0, 0, 0, 0]);
    onward.on('connect', () => socket.write(reply(0)));
    onward.on('error', () => socket.end(reply(5)));
  });
  return await listening(server, seen);
}

/** Only a proxy knows the addresses of 192.0.2.0/24, which are for documentation: they lead to this machine. */
function joined(socket: Socket, host: string, port: number): Socket {
  const onward = connect({ host: /localhost$|^192\.0\.2\./.test(host) ? '127.0.0.1' : host, port });
  onward.on('connect', () => {
    setImmediate(() => {
      onward.pipe(socket);
      socket.pipe(onward);
    });
  });
  socket.on('error', () => onward.destroy());
  socket.on('close', () => onward.destroy());
  return onward;
}

async function listening(server: Server, seen: string[]): Promise<TestProxy> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => sockets.add(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    seen,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

export interface ClientCertificate {
  cert: Buffer;
  key: Buffer;
  pfx: Buffer;
  passphrase: string;
}

/** Creates the certificate of a client. */
export function clientCertificate(name: string): ClientCertificate {
  const directory = mkdtempSync(join(tmpdir(), 'poolwright-client-'));
  const [key, cert, pfx] = ['key.pem', 'cert.pem', 'both.pfx'].map((file) => join(directory, file)) as [
    string,
    string,
    string,
  ];
  const passphrase = `of ${name}`;
  const openssl = (...args: string[]) => execFileSync('openssl', args, { stdio: 'ignore' });
  try {
    const made = ['req', '-x509', ...EC_KEY, '-nodes', '-days', '1', '-subj', `/CN=${name}`];
    openssl(...made, '-keyout', key, '-out', cert);
    openssl('pkcs12', '-export', '-inkey', key, '-in', cert, '-out', pfx, '-passout', `pass:${passphrase}`);
    return { cert: readFileSync(cert), key: readFileSync(key), pfx: readFileSync(pfx), passphrase };
  } finally {
    rmSync(directory, { recursive: true });
  }
}
