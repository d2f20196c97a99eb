import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

const SOCKS_USER = 'user';
export const SOCKS_PASSWORD = 'pass-5Ks1';

/** A minimal SOCKS5 server (RFC 1928, 1929), to check that traffic goes through it. */
export class SocksServer {
  /** `host:port` of every requested connection. */
  readonly targets: string[] = [];
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor() {
    this.#server = createServer((client) => {
      this.#track(client);
      this.#serve(client).catch(() => client.destroy());
    });
  }

  static async start(): Promise<SocksServer> {
    const socks = new SocksServer();
    socks.#server.listen(0, '127.0.0.1');
    await once(socks.#server, 'listening');
    return socks;
  }

  get url(): string {
    return `socks5h://${SOCKS_USER}:${SOCKS_PASSWORD}@127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #track(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => this.#sockets.delete(socket));
  }

  async #serve(client: Socket): Promise<void> {
    await once(client, 'data'); // methods
    client.write(Buffer.from([5, 2])); // user name and password
    const [login] = (await once(client, 'data')) as [Buffer];
    const userLength = login[1] ?? 0;
    const user = login.subarray(2, 2 + userLength).toString();
    const password = login.subarray(3 + userLength).toString();
    const good = user === SOCKS_USER && password === SOCKS_PASSWORD;
    client.write(Buffer.from([1, good ? 0 : 1]));
    if (!good) return;
    const [request] = (await once(client, 'data')) as [Buffer];
    const { host, port } = parseTarget(request);
    this.targets.push(`${host}:${port}`);
    // All names in the test resolve to this machine: what matters is that they were requested here.
    const upstream = connect(port, '127.0.0.1');
    this.#track(upstream);
    await once(upstream, 'connect');
    client.write(Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]));
    client.pipe(upstream).pipe(client);
  }
}

function parseTarget(request: Buffer): { host: string; port: number } {
  const isName = request[3] === 3;
  const end = isName ? 5 + (request[4] ?? 0) : 8;
  const host = isName ? request.subarray(5, end).toString() : request.subarray(4, end).join('.');
  return { host, port: request.readUInt16BE(end) };
}
