import { lookup } from 'node:dns/promises';
import { Agent } from 'node:http';
import { isIP, type LookupFunction } from 'node:net';
import type { ConnectionStats, PrepareRequestFunctionResult, Server } from 'proxy-chain';
import { NOWHERE } from '../chromium/arguments.ts';
import { isAdHost } from './ad-hosts.ts';
import { isLoopbackAddress, isLoopbackHost } from './loopback.ts';

/** A connection per request: a kept one may be closed by its site just when the next request is on its way. */
const agent = new Agent({ keepAlive: false });

export interface EgressProxyOptions {
  allowLoopback: boolean;
  /** SOCKS5 or SOCKS5H proxy that everything leaves through. */
  upstream?: string | undefined;
  /** Whether hosts of advertisements are out of reach. */
  blocksAds?: boolean;
  log: (line: string) => void;
}

interface Refusal {
  refused: string;
  /** As asked for: not worth a line. */
  quietly?: boolean;
}

/**
 * One browser's way out: an HTTP proxy of its own on 127.0.0.1, so that its bytes are counted where they leave, and
 * no other browser's are counted with them.
 */
export class EgressProxy {
  readonly #options: EgressProxyOptions;
  readonly #server: Server;
  #closedBytes = 0;
  #total: number | undefined;
  #closed: Promise<void> | undefined;

  private constructor(options: EgressProxyOptions, { RequestError, Server }: typeof import('proxy-chain')) {
    this.#options = options;
    this.#server = new Server({
      port: 0,
      host: '127.0.0.1',
      prepareRequestFunction: async ({ hostname, isHttp, request }) => {
        const verdict = await this.#judge(hostname);
        // Cut while the name was looked up: a connection made now would be nobody's to close.
        if (this.#total !== undefined) throw new RequestError('The session has ended', 503);
        if (!('refused' in verdict)) return verdict;
        if (!verdict.quietly) options.log(`egress: ${verdict.refused}`);
        // An HTTP answer would look like a page to the browser. Without one its navigation fails, as it should.
        if (isHttp) request.socket.destroy();
        throw new RequestError(verdict.refused, 403);
      },
    });
    this.#server.on('connectionClosed', ({ stats }: { stats?: ConnectionStats }) => {
      this.#closedBytes += targetBytes(stats);
    });
    this.#server.on('requestFailed', ({ error }: { error: Error }) => options.log(`egress: ${error.message}`));
  }

  static async start(options: EgressProxyOptions): Promise<EgressProxy> {
    // Loaded when needed: the library is ESM only, and our CommonJS build has to reach it too.
    const proxy = new EgressProxy(options, await import('proxy-chain'));
    await proxy.#server.listen();
    return proxy;
  }

  get port(): number {
    return this.#server.port;
  }

  /** Cuts every connection at once. The answer is what left and came in, in bytes, on the side of the sites: final. */
  cut(): number {
    if (this.#total === undefined) {
      this.#total = this.#count();
      this.#closed = this.#server.close(true);
    }
    return this.#total;
  }

  /** Like `cut`; resolves when the port is free. */
  async close(): Promise<void> {
    this.cut();
    await this.#closed;
  }

  #count(): number {
    let total = this.#closedBytes;
    for (const id of this.#server.getConnectionIds()) total += targetBytes(this.#server.getConnectionStats(id));
    return total;
  }

  async #judge(hostname: string): Promise<PrepareRequestFunctionResult | Refusal> {
    const { allowLoopback, upstream, blocksAds } = this.#options;
    const host = hostname.replace(/^\[|\]$/g, '');
    if (isNowhere(host)) return { refused: `${host} does not exist`, quietly: true };
    if (blocksAds && isAdHost(host)) return { refused: `${host} serves advertisements (adblock)`, quietly: true };
    if (!allowLoopback && isLoopbackHost(host)) return { refused: loopbackRefusal(host) };
    if (upstream) return { upstreamProxyUrl: upstream };
    if (isIP(host)) return { httpAgent: agent };
    let addresses: Awaited<ReturnType<typeof resolve>>;
    try {
      addresses = await resolve(host);
    } catch {
      return { refused: `${host} does not resolve` };
    }
    if (!allowLoopback && addresses.some(({ address }) => isLoopbackAddress(address))) {
      return { refused: loopbackRefusal(host) };
    }
    // The addresses that were judged are the ones connected to: a second look-up might answer otherwise.
    const pinned: LookupFunction = (_host, options, callback) => {
      const [first] = addresses;
      if (options.all) callback(null, addresses);
      else callback(null, first?.address ?? '', first?.family);
    };
    return { httpAgent: agent, dnsLookup: pinned as PrepareRequestFunctionResult['dnsLookup'] };
  }
}

function isNowhere(host: string): boolean {
  return host.endsWith(`.${NOWHERE}`);
}

function resolve(host: string) {
  return lookup(host, { all: true });
}

function loopbackRefusal(host: string): string {
  return `${host} refused: a hosted browser cannot reach this machine's loopback (poolwright's exposeNetwork carries it there; allowLoopback lets it)`;
}

function targetBytes(stats: ConnectionStats | undefined): number {
  return (stats?.trgRxBytes ?? 0) + (stats?.trgTxBytes ?? 0);
}
