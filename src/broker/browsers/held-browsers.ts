import type { HeldBrowser, Holder } from './held-browser.ts';

/**
 * Every browser that the run has acquired, one per session, in order of arrival. Ended browsers stay in the list: they
 * still belong to this run, so the capacity watch must not count their end as that of a foreign session.
 */
export class HeldBrowsers {
  readonly #bySession = new Map<string, HeldBrowser>();

  /** Adds a browser that has just arrived. */
  add(held: HeldBrowser): void {
    this.#bySession.set(held.browser.sessionId, held);
  }

  get(sessionId: string): HeldBrowser | null {
    return this.#bySession.get(sessionId) ?? null;
  }

  get all(): HeldBrowser[] {
    return [...this.#bySession.values()];
  }

  /** Browsers that are neither ended nor ending: the run's share of the workspace's limit. */
  get held(): HeldBrowser[] {
    return this.all.filter(({ state }) => state === 'leased' || state === 'idle');
  }

  /** Browsers that the service is asked to end. */
  get ending(): HeldBrowser[] {
    return this.all.filter(({ state }) => state === 'ending');
  }

  /** Browsers that this worker holds. */
  leasedBy(holder: Holder): HeldBrowser[] {
    return this.all.filter((held) => held.state === 'leased' && held.holder === holder);
  }
}
