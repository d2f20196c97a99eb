import type { SessionRecord } from '../../record/run-record.ts';
import type { TestUsage } from '../rpc/protocol.ts';
import type { HeldBrowser, Holder } from './held-browser.ts';

/**
 * Every browser that the run has got, in the order they came: one a session, and none ever leaves, because the record
 * names those that have ended too.
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

  /** Adds what a test used to its session's record; false: the run has no such session. */
  testUsed({ sessionId, test, bridgedBytes }: TestUsage): boolean {
    const record = this.get(sessionId)?.record;
    if (!record) return false;
    record.testsServed += 1;
    record.observedBytes += test.observedBytes ?? 0;
    record.bridgedBytes += bridgedBytes;
    if (test.infrastructureFailure) record.infrastructureFailures.push(test.infrastructureFailure);
    record.tests.push(test);
    return true;
  }

  /** One record a session. */
  get records(): SessionRecord[] {
    return this.all.map(({ record }) => record);
  }
}
