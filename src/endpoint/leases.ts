import { PoolwrightError } from '../errors.ts';
import { type ToolBrowsers, type ToolFacts, ToolLease } from './tool-lease.ts';

type LeaseStart = Pick<ToolFacts, 'hidesPages' | 'open' | 'userAgent'>;

/** The leases of the tools, by the IDs in their addresses. */
export class ToolLeases {
  readonly #browsers: ToolBrowsers;
  readonly #max: number;
  readonly #leases = new Map<string, ToolLease>();
  /** Every lease that has not ended completely, with its slot. */
  readonly #open = new Map<ToolLease, number>();
  /** Leases that wait for their turn. The one that waits longest comes first. */
  readonly #waiting = new Set<ToolLease>();
  #number = 0;
  #isEnded = false;

  /** @param max how many browsers there may be at the same time */
  constructor(browsers: ToolBrowsers, max = Number.POSITIVE_INFINITY) {
    this.#browsers = browsers;
    this.#max = max;
  }

  /** The lease with this ID, if it has not ended. */
  find(id: string): ToolLease | undefined {
    return this.#leases.get(id);
  }

  /** Leases a browser under a new ID. @throws PoolwrightError `ABORTED` when the run has ended */
  start(id: string, tool: LeaseStart): ToolLease {
    if (this.#isEnded) throw new PoolwrightError('ABORTED', 'The command has ended.');
    this.#number += 1;
    const slot = lowestFree(new Set(this.#open.values()));
    const lease = new ToolLease(this.#browsers, { ...tool, slot, number: this.#number });
    this.#leases.set(id, lease);
    this.#open.set(lease, slot);
    this.#waiting.add(lease);
    this.#beginNext();
    void lease.ended.then(() => {
      this.#open.delete(lease);
      this.#waiting.delete(lease);
      if (this.#leases.get(id) === lease) this.#leases.delete(id);
      this.#beginNext();
    });
    return lease;
  }

  /** Ends a lease. Resolves when its browser is given back. */
  async end(id: string): Promise<void> {
    const lease = this.#leases.get(id);
    this.#leases.delete(id);
    await lease?.end();
  }

  /** Ends every lease, and accepts no other one. */
  async stop(): Promise<void> {
    this.#isEnded = true;
    await Promise.all([...this.#open.keys()].map((lease) => lease.end()));
  }

  #beginNext(): void {
    const [next] = this.#waiting;
    if (!next || this.#open.size - this.#waiting.size >= this.#max) return;
    this.#waiting.delete(next);
    next.begin();
  }
}

function lowestFree(taken: ReadonlySet<number>): number {
  for (let slot = 0; ; slot += 1) if (!taken.has(slot)) return slot;
}
