import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { connect, isIPv6, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { CONNECT_TIMEOUT_MS, connected, type Dial, dialServer } from '../proxy/dial.ts';
import { TunnelError, unreachedProxy } from '../proxy/failures.ts';
import { addressesOf, isLocalhost } from '../proxy/localhost.ts';
import type { ContextProxy } from './context-proxy.ts';

/**
 * Connects to servers through the proxy of a context.
 * @param dial how the proxy is reached; default: from this machine
 */
export function dialThrough(proxy: ContextProxy, dial: Dial = dialHere): Dial {
  return async (host, port) => {
    const { scheme, host: hostname, port: proxyPort } = proxy.server;
    let stream: Duplex;
    try {
      const isSecure = scheme === 'https';
      stream = await dialServer(dial, { hostname, port: proxyPort, isSecure, rejectUnauthorized: true });
    } catch (error) {
      throw new TunnelError(unreachedProxy(error) ?? 'net::ERR_PROXY_CONNECTION_FAILED');
    }
    try {
      return scheme === 'http' || scheme === 'https'
        ? await httpTunnel(stream, host, port, proxy.authorization)
        : await socksTunnel(stream, host, port, scheme === 'socks5' ? 5 : 4);
    } catch (error) {
      stream.destroy();
      throw error;
    }
  };
}

async function dialHere(host: string, port: number): Promise<Duplex> {
  return await connected(connect({ host, port, ...addressesOf(isLocalhost(host), CONNECT_TIMEOUT_MS) }));
}

async function httpTunnel(stream: Duplex, host: string, port: number, authorization?: string): Promise<Duplex> {
  const authority = `${isIPv6(host) ? `[${host}]` : host}:${port}`;
  const asked = request({
    method: 'CONNECT',
    path: authority,
    headers: {
      host: authority,
      'proxy-connection': 'keep-alive',
      ...(authorization !== undefined && { 'proxy-authorization': authorization }),
    },
    createConnection: () => stream as Socket,
  });
  asked.end();
  let answered: [IncomingMessage, Duplex, Buffer];
  try {
    const signal = AbortSignal.timeout(CONNECT_TIMEOUT_MS);
    answered = (await once(asked, 'connect', { signal })) as typeof answered;
  } catch {
    throw new TunnelError('net::ERR_TUNNEL_CONNECTION_FAILED');
  }
  const [{ statusCode, headers }, socket, head] = answered;
  if (statusCode !== 200) {
    throw new TunnelError(
      'net::ERR_TUNNEL_CONNECTION_FAILED',
      statusCode === 407 ? headers['proxy-authenticate']?.toString() : undefined,
    );
  }
  if (head.length > 0) socket.unshift(head);
  return socket;
}

async function socksTunnel(stream: Duplex, host: string, port: number, type: 4 | 5): Promise<Duplex> {
  // Loaded only for contexts with such a proxy.
  const { SocksClient } = await import('../../../common/libraries/socks-library.ts');
  try {
    const { socket } = await SocksClient.createConnection({
      proxy: { host: 'proxy', port: 1, type },
      command: 'connect',
      destination: { host, port },
      timeout: CONNECT_TIMEOUT_MS,
      existing_socket: stream as Socket,
    });
    return socket;
  } catch {
    throw new TunnelError('net::ERR_SOCKS_CONNECTION_FAILED');
  }
}
