import type { HeldBrowser, Holder } from './held-browser.ts';

/**
 * Every browser that the run has got, in the order they came: one a session. None ever leaves: what has ended is still
 * one of this run's, whose end is nobody else's news.
 */
export class HeldBrowsers {
  readonly #bySession = new Map<string, HeldBrowser>();

  /** One that has just come. */
  add(held: HeldBrowser): void {
    this.#bySession.set(held.browser.sessionId, held);
  }

  get(sessionId: string): HeldBrowser | null {
    return this.#bySession.get(sessionId) ?? null;
  }

  get all(): HeldBrowser[] {
    return [...this.#bySession.values()];
  }

  /** Those that are neither ended nor being ended: what the run keeps of the workspace's limit. */
  get held(): HeldBrowser[] {
    return this.all.filter(({ state }) => state === 'claimed' || state === 'idle');
  }

  /** Those that the service is asked to end. */
  get ending(): HeldBrowser[] {
    return this.all.filter(({ state }) => state === 'ending');
  }

  /** Those that this worker has. */
  claimedBy(holder: Holder): HeldBrowser[] {
    return this.all.filter((held) => held.state === 'claimed' && held.holder === holder);
  }
}
