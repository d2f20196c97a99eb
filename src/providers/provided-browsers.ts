import { ServiceError } from '../errors.ts';
import { hasOwnState } from '../options/context-mode.ts';
import { browserIn } from './cdp-address.ts';
import { ALL_IN_USE } from './fixed-browsers.ts';
import type {
  AcquireRequest,
  BrowserProvider,
  BrowserReport,
  Endable,
  GrantedBrowser,
  ProviderLimit,
  ReleaseOptions,
  RunningBrowser,
} from './port.ts';
import { unleased } from './port.ts';
import { OPTIONAL } from './provider.ts';
import { type CheckedProvider, ProviderCalls, UNLISTED_MS } from './provider-calls.ts';

/** Browsers of the user's own provider, or those that run already. */
export class ProvidedBrowsers implements BrowserProvider {
  readonly limited: ProviderLimit;
  readonly reportsDoubt = true;
  readonly unlistedMs: number;
  readonly now: () => number;
  readonly #calls: ProviderCalls;
  readonly #provider: CheckedProvider;
  /** Browsers of this process. */
  readonly #running = new Map<string, RunningBrowser & { cdpUrl: string }>();
  /** Browsers that were acquired, and whose end is not confirmed. */
  readonly #ids = new Set<string>();
  #limitAsked: Promise<number | null> | null = null;

  /**
   * @param name of the user's provider, for messages; default: browsers that run already
   * @param now see {@link BrowserProvider.now}: no provider tells the time of its service
   */
  constructor(provider: CheckedProvider, name: string | null = null, now: () => number = Date.now) {
    this.now = now;
    this.limited = {
      isShared: false,
      ...(name === null
        ? { by: '`browsers`', reached: ALL_IN_USE, starting: 'waiting for a browser of `browsers` to answer' }
        : {
            by: name,
            reached: `all browsers that ${name} allows are in use`,
            starting: `waiting for \`acquire\` of ${name}`,
          }),
    };
    this.#calls = new ProviderCalls(provider, name, now);
    this.unlistedMs = this.#calls.has('list') ? UNLISTED_MS : Number.POSITIVE_INFINITY;
    this.#provider = provider;
  }

  /** Which optional functions the provider lacks. */
  get lacks(): (typeof OPTIONAL)[number][] {
    return OPTIONAL.filter((call) => !this.#calls.has(call));
  }

  async check(signal?: AbortSignal): Promise<void> {
    await this.#calls.check(signal);
    // Without an answer, a run goes on: the limit shows when it is reached.
    await this.limit().catch((error) => {
      if (error instanceof ServiceError && error.code === 'SERVICE_BAD_RESPONSE') throw error;
    });
  }

  limit(): Promise<number | null> {
    this.#limitAsked ??= this.#calls.figure('limit');
    return this.#limitAsked;
  }

  async acquire(request: AcquireRequest): Promise<GrantedBrowser> {
    const { label, project, needMs, session, askedAt, signal, account } = request;
    let isTwice = false;
    const { id, cdpUrl, headers, expiresAt } = await this.#calls.acquire({ label, project, needMs }, signal, {
      doubt: () => account.doubt(),
      certain: () => account.certain(),
      known: (browser) => {
        isTwice = !this.#isNew(browser);
        if (!isTwice) account.known(browser);
      },
      unused: (browser) => {
        if (this.#isNew(browser)) account.unused(browser);
      },
    });
    if (isTwice)
      throw wrong(`\`acquire\` returned the id ${id} for two browsers at the same time: each needs a different one.`);
    const browser = browserIn(cdpUrl);
    const same = [...this.#running.values()].find((each) => browser !== null && browserIn(each.cdpUrl) === browser);
    if (same && !this.#provider.runsAlready)
      throw wrong(
        `\`acquire\` returned the browser of ${same.sessionId} again, as ${id}: each needs a different browser.`,
      );
    this.#running.set(id, { sessionId: id, cdpUrl, note: label });
    return {
      ...unleased(id),
      servedBy: null,
      type: null,
      hasOwnState: hasOwnState(session),
      runsAlready: this.#provider.runsAlready,
      cdpUrl,
      headers,
      lifetimeSeconds: (expiresAt.getTime() - askedAt) / 1000,
    };
  }

  async release({ sessionId }: Endable, { signal, reason = 'left-over' }: ReleaseOptions = {}): Promise<void> {
    await this.#calls.release(sessionId, reason, signal);
    this.#running.delete(sessionId);
    this.#ids.delete(sessionId);
  }

  /**
   * All that the provider lists; without a list, those of this process. Browsers that do not answer count as running: a
   * request that waits at the limit tries again when one disappears from the list.
   */
  async *list(signal?: AbortSignal): AsyncGenerator<RunningBrowser> {
    if (!this.#calls.has('list')) {
      yield* this.#running.values();
      for (const name of (await this.#provider.silent?.(signal)) ?? [])
        yield { sessionId: `silent ${name}`, note: null };
      return;
    }
    for (const { id: sessionId, label: note } of await this.#calls.list(signal)) {
      yield this.#running.get(sessionId) ?? { sessionId, note };
    }
  }

  /** The label that the provider lists a browser with; null: without one; undefined: it is not listed. */
  async labelOf(sessionId: string): Promise<string | null | undefined> {
    return (await this.#calls.list()).find(({ id }) => id === sessionId)?.label;
  }

  /** What a running one has used is not known before its end. */
  async report(sessionId: string): Promise<BrowserReport> {
    if (this.#running.has(sessionId)) return { status: 'active', stoppedAt: null, bandwidthBytes: null };
    const bandwidthBytes = await this.#calls.figure('usage', sessionId);
    return { status: 'completed', stoppedAt: null, bandwidthBytes };
  }

  /** False for the ID of a browser that has one already: to end the second would end the first. */
  #isNew({ sessionId }: Endable): boolean {
    const isNew = !this.#ids.has(sessionId);
    this.#ids.add(sessionId);
    return isNew;
  }

  kept(sessionId: string): void {
    this.#provider.kept?.(sessionId);
  }

  async close(): Promise<void> {
    await this.#provider.close?.();
  }
}

function wrong(message: string): ServiceError {
  return new ServiceError('SERVICE_BAD_REQUEST', message, { status: 400, request: 'acquire', retryable: false });
}
