import type { FixedBrowser } from '../../../../src/options/resolve-service.ts';
import { FixedBrowsers, type Reach } from '../../../../src/providers/fixed-browsers.ts';
import {
  type ProvidedBrowser,
  ProviderError,
  type ProviderRequest,
  type ReleaseReason,
} from '../../../../src/providers/provider.ts';
import type { CheckedProvider } from '../../../../src/providers/provider-calls.ts';
import type { FakeClock } from '../../../support/unit/broker/fake-clock.ts';

/** What is at an address: a browser, nothing, or a server that never responds. */
export type At = 'up' | 'refuses' | 'silent';

export interface GivenAddress {
  /** Whether it is a debugging port, or a `ws://` address. */
  scheme: 'http' | 'ws';
  max: number;
  at: At;
}

/** Time limits, in ms: of a question to an address, and of a worker's connection. */
const ASK_MS = 5_000;
export const CONNECT_MS = 30_000;

/** An address, with what was seen of it: all that may be said about it. */
interface Address extends GivenAddress {
  url: string;
  host: string;
  /** Whether the last attempt of anybody reached a browser; null: there was none. */
  lastSeen: boolean | null;
  failedAt: number;
  /** What was said last. */
  isLeftOut: boolean;
}

/**
 * Fixed addresses whose browsers come and go, around the real provider. Counts the leases of each address where the
 * provider gives and takes them, and judges each line for the user by what was seen of its address.
 */
export class ScriptedAddresses {
  readonly addresses: Address[];
  readonly provider: CheckedProvider;
  readonly violations: string[] = [];
  /** By lease. */
  readonly held = new Map<string, Address>();
  /** Called before one is taken back: returns whether it may be. */
  mayEnd: (id: string) => boolean = () => true;
  /** Number of leases so far. */
  given = 0;
  readonly #clock: FakeClock;
  readonly #latency: number;

  constructor(given: readonly GivenAddress[], latency: number, clock: FakeClock) {
    this.#clock = clock;
    this.#latency = latency;
    this.addresses = given.map((each, n) => {
      const host = `host-${n}.test`;
      return {
        ...each,
        host,
        url: `${each.scheme}://${host}/?token=s3cret`,
        lastSeen: null,
        failedAt: 0,
        isLeftOut: false,
      };
    });
    const browsers: FixedBrowser[] = this.addresses.map(({ url, max }) => ({ url, max }));
    const reach: Reach = {
      address: async (url, { signal }) => {
        const there = this.#of(url);
        if (there.scheme === 'ws') return url;
        if (await this.#asked(there, ASK_MS, signal)) return `ws://${there.host}/?token=s3cret`;
        throw new ProviderError('UNAVAILABLE', 'it refuses');
      },
      responds: async (url) => await this.#asked(this.#of(url), ASK_MS),
      now: () => clock.now(),
    };
    const fixed = new FixedBrowsers(browsers, (text) => this.#judge(text), reach);
    this.provider = {
      runsAlready: fixed.runsAlready,
      acquire: async (request) => await this.#acquire(fixed, request),
      release: async (id, reason) => await this.#release(fixed, id, reason),
    };
  }

  /** Whether a worker's connection to a leased browser works. */
  async connects(id: string): Promise<boolean> {
    const there = this.held.get(id);
    return there !== undefined && (await this.#asked(there, CONNECT_MS));
  }

  /** A connected browser has responded. */
  hasResponded(id: string): void {
    const there = this.held.get(id);
    if (there) there.lastSeen = true;
  }

  isUp(id: string): boolean {
    return this.held.get(id)?.at === 'up';
  }

  /** Whether a request that began then may fail because no browser answers: each was tried, and none was seen. */
  mayDespair(since: number): boolean {
    return this.addresses.every(({ lastSeen, failedAt }) => lastSeen === false || failedAt >= since);
  }

  async #acquire(fixed: FixedBrowsers, request: ProviderRequest): Promise<ProvidedBrowser> {
    const browser = await fixed.acquire(request);
    const there = this.addresses.find(({ host }) => host === new URL(browser.cdpUrl).host);
    this.given += 1;
    if (!there) this.violations.push(`${browser.cdpUrl} is not one of them`);
    else if (this.held.has(browser.id)) this.violations.push(`${browser.id} was given twice`);
    else this.held.set(browser.id, there);
    for (const { host, max } of this.addresses) {
      const now = [...this.held.values()].filter((each) => each.host === host).length;
      if (now > max) this.violations.push(`${host} has ${now} leases, and takes ${max}`);
    }
    return browser;
  }

  async #release(fixed: FixedBrowsers, id: string, reason: ReleaseReason): Promise<void> {
    if (!this.held.has(id)) this.violations.push(`${id} was taken back twice, or never given`);
    if (!this.mayEnd(id)) this.violations.push(`${id} was taken back while a worker had it`);
    await fixed.release(id, reason);
    this.held.delete(id);
  }

  /** One attempt to reach what is there. */
  async #asked(there: Address, limit: number, signal?: AbortSignal): Promise<boolean> {
    await this.#travel(there.at === 'silent' ? limit : this.#latency, signal);
    const isUp = there.at === 'up';
    there.lastSeen = isUp;
    if (!isUp) there.failedAt = this.#clock.now();
    return isUp;
  }

  async #travel(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      const giveUp = () => {
        timer.cancel();
        reject(signal?.reason);
      };
      const timer = this.#clock.after(ms, () => {
        signal?.removeEventListener('abort', giveUp);
        resolve();
      });
      signal?.addEventListener('abort', giveUp, { once: true });
    });
  }

  #of(url: string): Address {
    return this.addresses.find((each) => each.url === url) as Address;
  }

  /** Each failure and each return is said once, in turn, after it was seen, and without a secret. */
  #judge(text: string): void {
    const there = this.addresses.find(({ host }) => text.includes(host));
    const isOut = / is left out: /.test(text);
    if (!there || text.includes('s3cret') || isOut === there.isLeftOut || there.lastSeen !== !isOut)
      this.violations.push(`said, and not so (seen: ${there?.lastSeen}): ${text}`);
    if (there) there.isLeftOut = isOut;
  }
}
