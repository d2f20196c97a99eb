import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { getProxyForUrl } from 'proxy-from-env';
import { OptionsError } from '../../errors.ts';
import { urlCredentials } from '../url/credentials.ts';
import { isLoopbackHost } from '../url/loopback.ts';
import { parsedUrl } from '../url/parsed-url.ts';
import { CONNECT_TIMEOUT_MS, connected, type Dial, dialServer } from './dial.ts';
import { httpTunnel, TunnelRefused } from './http-tunnel.ts';

/** The proxy that the environment names for an address. */
export interface EnvironmentProxy {
  /** `proxy.example:3128 (HTTPS_PROXY)`, without credentials. */
  readonly name: string;
  /** Connects through it. @throws ProxyError */
  readonly dial: Dial;
}

/** The proxy does not connect to a server. The message holds no credentials. */
export class ProxyError extends Error {}

/** As curl, npm and Playwright read them: lower case first. */
const VARIABLES = { https: ['https_proxy', 'HTTPS_PROXY'], http: ['http_proxy', 'HTTP_PROXY'] } as const;
const FOR_ALL = ['all_proxy', 'ALL_PROXY'] as const;

/**
 * The proxy that `HTTPS_PROXY`, `HTTP_PROXY` or `ALL_PROXY` name for an address; null: it is reached directly, because
 * none does, `NO_PROXY` lists the host, or it is this machine.
 * @param address `http:`, `https:`, `ws:` or `wss:`
 * @throws OptionsError for a value that is not the address of an HTTP proxy
 */
export function environmentProxy(address: string): EnvironmentProxy | null {
  const url = parsedUrl(address.replace(/^ws/i, 'http'));
  if (url === null || isLoopbackHost(url.hostname) || getProxyForUrl(url.href) === '') return null;
  const own = VARIABLES[url.protocol === 'https:' ? 'https' : 'http'];
  const variable = [...own, ...FOR_ALL].find((name) => process.env[name]) ?? own[0];
  const value = process.env[variable] ?? '';
  const isForAll = /^all_/i.test(variable);
  // Meant for other programs, too.
  if (isForAll && /^socks/i.test(value)) return null;
  return proxyOf(value, variable);
}

function proxyOf(value: string, variable: string): EnvironmentProxy {
  const url = parsedUrl(value.includes('://') ? value : `http://${value}`);
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new OptionsError(
      variable,
      `${variable} must be the address of an HTTP proxy, such as http://proxy.example:3128 or http://name:password@proxy.example:3128. List hosts in NO_PROXY that are reached directly.`,
    );
  }
  const { username, password } = urlCredentials(url);
  const isSecure = url.protocol === 'https:';
  const destination = {
    hostname: url.hostname,
    port: Number(url.port) || (isSecure ? 443 : 80),
    isSecure,
    rejectUnauthorized: true,
  };
  const authorization =
    username === '' && password === ''
      ? undefined
      : `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  const name = `${url.host} (${variable})`;
  return {
    name,
    dial: async (host, port) => {
      const stream = await dialServer(dialDirectly, destination).catch((error: NodeJS.ErrnoException) => {
        throw new ProxyError(`the proxy ${name} was not reached: ${error.code ?? error.message}`);
      });
      try {
        return await httpTunnel(stream, host, port, authorization);
      } catch (error) {
        throw new ProxyError(`the proxy ${name} ${describeRefusal(error, variable, authorization !== undefined)}`);
      }
    },
  };
}

async function dialDirectly(host: string, port: number): Promise<Duplex> {
  return await connected(connect({ host, port }));
}

function describeRefusal(error: unknown, variable: string, hasLogin: boolean): string {
  if (!(error instanceof TunnelRefused)) {
    const isLate = error instanceof Error && error.name === 'AbortError';
    return isLate ? `did not respond within ${CONNECT_TIMEOUT_MS / 1000} s` : 'did not respond like an HTTP proxy';
  }
  const { status } = error;
  if (status !== 407) return `refused the connection with HTTP ${status}`;
  return hasLogin
    ? `rejected the name and password in ${variable} (HTTP 407)`
    : `asks for a login (HTTP 407): set ${variable}=http://name:password@…`;
}
