import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { isIPv6, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { CONNECT_TIMEOUT_MS } from './dial.ts';

/** A proxy has refused to connect to a server. */
export class TunnelRefused extends Error {
  readonly status: number;
  /** `Proxy-Authenticate`, if the proxy asks for a name and password. */
  readonly challenge: string | undefined;

  constructor(status: number, challenge: string | undefined) {
    super(`the proxy refused the connection with HTTP ${status}`);
    this.status = status;
    this.challenge = challenge;
  }
}

/**
 * Lets an HTTP proxy connect to a server (`CONNECT`).
 * @param stream a connection to the proxy. It is closed if this fails
 * @param authorization `Proxy-Authorization`
 * @throws TunnelRefused; or another error if the proxy does not respond, within 30 s, or not in HTTP
 */
export async function httpTunnel(stream: Duplex, host: string, port: number, authorization?: string): Promise<Duplex> {
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
  try {
    const signal = AbortSignal.timeout(CONNECT_TIMEOUT_MS);
    const answered = await once(asked, 'connect', { signal });
    const [{ statusCode = 0, headers }, socket, head] = answered as [IncomingMessage, Duplex, Buffer];
    if (statusCode !== 200) {
      throw new TunnelRefused(statusCode, statusCode === 407 ? headers['proxy-authenticate']?.toString() : undefined);
    }
    if (head.length > 0) socket.unshift(head);
    return socket;
  } catch (error) {
    stream.destroy();
    throw error;
  }
}
