import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { CONNECT_TIMEOUT_MS, connected, type Dial, dialServer } from '../../../../common/dial/dial.ts';
import { httpTunnel, TunnelRefused } from '../../../../common/dial/http-tunnel.ts';
import { TunnelError, unreachedProxy } from '../failures.ts';
import { addressesOf, isLocalhost } from '../localhost.ts';
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
    if (scheme !== 'http' && scheme !== 'https') {
      return await socksTunnel(stream, host, port, scheme === 'socks5' ? 5 : 4);
    }
    try {
      return await httpTunnel(stream, host, port, proxy.authorization);
    } catch (error) {
      const challenge = error instanceof TunnelRefused ? error.challenge : undefined;
      throw new TunnelError('net::ERR_TUNNEL_CONNECTION_FAILED', challenge);
    }
  };
}

async function dialHere(host: string, port: number): Promise<Duplex> {
  return await connected(connect({ host, port, ...addressesOf(isLocalhost(host), CONNECT_TIMEOUT_MS) }));
}

async function socksTunnel(stream: Duplex, host: string, port: number, type: 4 | 5): Promise<Duplex> {
  // Loaded only for contexts with such a proxy.
  const { SocksClient } = await import('../../../../common/libraries/socks-library.ts');
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
    stream.destroy();
    throw new TunnelError('net::ERR_SOCKS_CONNECTION_FAILED');
  }
}
