import type { LeasePlan } from '../../options/schema/plan.ts';
import type { RemainingParams } from '../rpc/messages/protocol.ts';
import type { WorkerRequest } from './worker-request.ts';

/** What the runner reports about the tests of one project. */
export type ProjectDemand = Omit<RemainingParams['projects'][number], 'project'>;

/** The remaining tests of one plan, and how many browsers they need. */
export class BrowserDemand {
  #projects: readonly ProjectDemand[] | null = null;
  #wasKnown = false;

  readonly #reuse: LeasePlan['reuse'];

  constructor(reuse: LeasePlan['reuse']) {
    this.#reuse = reuse;
  }

  /** @param projects null: unknown */
  update(projects: readonly ProjectDemand[] | null): void {
    this.#projects = projects;
    this.#wasKnown ||= projects !== null;
  }

  get isKnown(): boolean {
    return this.#projects !== null;
  }

  /** Whether a remaining test certainly uses a fresh browser. @param leases number of leases so far */
  needsFresh(leases: number): boolean {
    if (this.#reuse === 'test') return this.isKnown && this.requestsLeft(leases) > 0;
    return this.#projects?.some(({ certain }) => certain > 0) ?? false;
  }

  /**
   * With `reuse: 'test'`: how many more browsers the tests will certainly request. Prefetching never exceeds this
   * number. Infinity if the number is unknown.
   */
  requestsLeft(leases: number): number {
    if (this.#reuse !== 'test') return Number.POSITIVE_INFINITY;
    if (this.#projects) return sum(this.#projects, ({ asks }) => asks) - leases;
    // The runner that counted them, or the connection to it, is gone.
    return this.#wasKnown ? 0 : Number.POSITIVE_INFINITY;
  }

  /** How many idle browsers the remaining tests can use. @param served slots of workers that have a browser */
  idleNeeds(served: ReadonlySet<number>): { used: number; fresh: number } {
    const projects = this.#projects ?? [];
    const running = projects.flatMap((each) => each.running);
    // A worker that runs a test may already have its browser; the runner's report comes too late to tell.
    if (this.#reuse === 'test') return { used: 0, fresh: sum(projects, ({ waiting }) => waiting) + running.length };
    // One for each group that no worker has started, and one for each worker that runs tests without a browser.
    const without = new Set(running.map(({ slot }) => slot).filter((slot) => !served.has(slot))).size;
    const needed = without + sum(projects, ({ groups }) => groups);
    return this.#reuse === 'run' ? { used: needed, fresh: needed } : { used: 0, fresh: needed };
  }

  /**
   * Whether the worker of this slot runs no group of tests: none is left for it, or a lock (Playwright's `lock`) holds
   * it back. False if the tests are unknown.
   */
  runsNoGroup(slot: number): boolean {
    return this.#projects?.every(({ running }) => running.every((each) => each.slot !== slot)) ?? false;
  }

  /**
   * Whether the prefetching worker will run another test that needs the browser. Reports about an earlier test do not
   * count: the current test may be the worker's last.
   */
  continues({ slot, during }: Pick<WorkerRequest, 'slot' | 'during'>): boolean {
    // If the worker names its test, a report about it may still arrive; otherwise none ever will.
    if (!this.#projects) return !this.#wasKnown && (this.#reuse !== 'test' || during === undefined);
    const running = this.#projects.flatMap((each) => each.running);
    const own = running.find((each) => each.slot === slot.index && each.test === during);
    return (this.#reuse === 'test' ? own?.asks : own?.goesOn) ?? false;
  }
}

function sum<T>(all: readonly T[], of: (one: T) => number): number {
  return all.reduce((total, one) => total + of(one), 0);
}
