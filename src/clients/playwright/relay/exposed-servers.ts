import { connect } from 'node:net';
import * as v from 'valibot';
import { loopbackOrigin } from '../../../cdp/network/hosts/proxied-hosts.ts';
import { addressesOf, isLocalhost } from '../../../cdp/network/send/localhost.ts';
import { ProxiedTraffic } from '../../../cdp/network/send/proxied-traffic.ts';
import type { Exposure } from '../../../options/expose-network.ts';
import type { Destination, TunnelStream } from '../../../relay/streams.ts';

/** Time limit for connecting, in ms. */
const CONNECT_TIMEOUT_MS = 30_000;
/** A call of `page.request` or `route.fetch` begins like this: a body may be long. */
const FETCH = /^\{"id":"?([^",}]+)"?,.{0,200}?"method":"fetch"/;
/** Calls of Playwright's protocol that name an address which the test visits, or on which relative ones are based. */
const VISITS = /"(goto|newContext)"/;

const visit = v.object({
  method: v.picklist(['goto', 'newContext']),
  params: v.object({ url: v.optional(v.string()), baseURL: v.optional(v.string()) }),
});

/**
 * The servers that a relay reaches through this machine: those that `exposeNetwork` lists, and with `auto` those on
 * loopback once the test itself visits one. Judged here, because the relay is another machine.
 */
export class ExposedServers {
  /** Of pages; with TLS, if a server has it: the relay adds that. */
  readonly traffic = new ProxiedTraffic();
  readonly #exposure: Exposure;
  readonly #visited = new Set<string>();
  readonly #reached = new Set<string>();
  /** Requests that the test makes itself and that have no response yet, by the call's ID. */
  readonly #requests = new Set<string>();

  constructor(exposure: Exposure) {
    this.#exposure = exposure;
  }

  /** Origins that were reached because the test visits this machine. */
  get origins(): string[] {
    return [...this.#reached];
  }

  /** Takes the test's messages to Playwright's server. */
  observe(text: string): void {
    const request = FETCH.exec(text)?.[1];
    if (request !== undefined) this.#requests.add(request);
    if (!this.#exposure.auto || !VISITS.test(text)) return;
    const message = v.safeParse(visit, JSON.parse(text));
    if (!message.success) return;
    const { url, baseURL } = message.output.params;
    for (const address of [url, baseURL]) {
      const origin = loopbackOrigin(address);
      if (origin !== null) this.#visited.add(origin);
    }
  }

  /** Takes the server's messages to the test. */
  observeResponse(text: string): void {
    if (this.#requests.size === 0) return;
    const [, id = ''] = /^\{"id":"?([^",}]+)"?[,}]/.exec(text) ?? [];
    this.#requests.delete(id);
  }

  /** Whether requests to an address come through this machine. */
  reaches(url: string): boolean {
    if (this.#exposure.hosts?.matches(url)) return true;
    return this.#visited.size > 0 && loopbackOrigin(url) !== null;
  }

  /** Connects a stream of the relay to a server. */
  connect(stream: TunnelStream, { host, port, by }: Destination): void {
    // The test's own requests reach what this machine reaches, as without a relay, also by redirects.
    if (by === 'test' ? this.#requests.size === 0 : !this.#allows(host, port)) {
      stream.fail('EACCES');
      return;
    }
    const socket = connect({
      host,
      port,
      // Each side ends when it has sent everything.
      allowHalfOpen: true,
      timeout: CONNECT_TIMEOUT_MS,
      ...addressesOf(isLocalhost(host), CONNECT_TIMEOUT_MS),
    });
    if (by === 'page') this.traffic.follow(socket);
    socket.once('timeout', () => socket.destroy(Object.assign(new Error('timeout'), { code: 'ETIMEDOUT' })));
    socket.once('error', ({ code = 'ECONNRESET' }: NodeJS.ErrnoException) => stream.fail(code));
    socket.once('connect', () => {
      socket.setTimeout(0);
      stream.accept();
      socket.pipe(stream).pipe(socket);
    });
    stream.once('close', () => socket.destroy());
  }

  #allows(host: string, port: number): boolean {
    const url = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
    if (this.#exposure.hosts?.matches(url)) return true;
    const origin = loopbackOrigin(url);
    if (this.#visited.size === 0 || origin === null) return false;
    const secure = loopbackOrigin(url.replace('http', 'https'));
    this.#reached.add(secure !== null && this.#visited.has(secure) ? secure : origin);
    return true;
  }
}
