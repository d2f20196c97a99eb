import { connect } from 'node:net';
import * as v from 'valibot';
import { loopbackOrigin } from '../../../cdp/network/policy/loopback-origin.ts';
import { addressesOf, isLocalhost } from '../../../cdp/network/proxy/localhost.ts';
import type { Exposure } from '../../../options/expose-network.ts';
import type { Destination, TunnelStream } from '../../../relay/streams.ts';

/** Time limit for connecting, in ms. */
const CONNECT_TIMEOUT_MS = 30_000;
/** Calls of Playwright's protocol that name an address which the test visits, or on which relative ones are based. */
const VISITS = /"(goto|newContext)"/;

const visit = v.object({
  method: v.picklist(['goto', 'newContext']),
  params: v.object({ url: v.optional(v.string()), baseURL: v.optional(v.string()) }),
});

/**
 * The servers that a relay reaches through this machine: those that `exposeNetwork` lists, and with `auto` loopback
 * origins that the test itself visits. Judged here, because the relay is another machine.
 */
export class ExposedServers {
  readonly #exposure: Exposure;
  readonly #visited = new Set<string>();
  readonly #reached = new Set<string>();

  constructor(exposure: Exposure) {
    this.#exposure = exposure;
  }

  /** Origins that were reached because the test visits them. */
  get origins(): string[] {
    return [...this.#reached];
  }

  /** Takes the test's messages to Playwright's server. */
  observe(text: string): void {
    if (!this.#exposure.byIntent || !VISITS.test(text)) return;
    const message = v.safeParse(visit, JSON.parse(text));
    if (!message.success) return;
    const { url, baseURL } = message.output.params;
    for (const address of [url, baseURL]) {
      const origin = loopbackOrigin(address);
      if (origin !== null) this.#visited.add(origin);
    }
  }

  /** Whether requests to an address come through this machine. */
  reaches(url: string): boolean {
    if (this.#exposure.hosts?.matches(url)) return true;
    const origin = loopbackOrigin(url.replace(/^ws/, 'http'));
    return origin !== null && this.#visited.has(origin);
  }

  /** Connects a stream of the relay to a server. */
  connect(stream: TunnelStream, { host, port }: Destination): void {
    if (!this.#allows(host, port)) {
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
    const name = host.includes(':') ? `[${host}]` : host;
    if (this.#exposure.hosts?.matches(`http://${name}:${port}`)) return true;
    const origins = [`http://${name}:${port}`, `https://${name}:${port}`].map((address) => new URL(address).origin);
    const found = origins.filter((origin) => this.#visited.has(origin));
    for (const origin of found) this.#reached.add(origin);
    return found.length > 0;
  }
}
