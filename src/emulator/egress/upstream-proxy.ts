import { urlCredentials } from '../../common/url/credentials.ts';
import { CONNECT_MS, type Outgoing } from './outgoing.ts';

const SOCKS_PORT = 1080;

/** Connects to a host through a SOCKS5 proxy, which looks the name up. @throws the reason, as an Error */
export async function connectThrough(upstream: string, host: string, port: number): Promise<Outgoing> {
  // Loaded only where there is an upstream proxy.
  const { SocksClient } = await import('../../common/libraries/socks-library.ts');
  const url = new URL(upstream);
  const { hostname, port: proxyPort } = url;
  const { username: userId, password } = urlCredentials(url);
  const { socket } = await SocksClient.createConnection({
    proxy: {
      host: hostname.replace(/^\[|\]$/g, ''),
      port: Number(proxyPort || SOCKS_PORT),
      type: 5,
      ...(userId && { userId, password }),
    },
    command: 'connect',
    destination: { host, port },
    timeout: CONNECT_MS,
    set_tcp_nodelay: true,
  });
  return { socket, overhead: socket.bytesRead + socket.bytesWritten };
}
