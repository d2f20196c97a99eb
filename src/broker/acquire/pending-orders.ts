import { LeaseError } from '../../errors.ts';
import type { HeldBrowser } from '../browsers/held-browser.ts';

/** A browser that is requested from the service but not available yet. */
export interface Order {
  /** Resolves with an idle browser. */
  readonly browser: Promise<HeldBrowser>;
  /** Whether it has no request at the service at the moment, so that it can be cancelled without side effects. */
  readonly parked: boolean;
  /** What it waits for, in a few words. */
  readonly waitsFor: string;
  /** The same in detail, from a fresh request to the service. */
  explain(signal: AbortSignal): Promise<string>;
  /** Cancels a parked order; `browser` rejects. */
  giveUp(): void;
}

/** Cancels an order that is no longer needed. */
export class SurplusOrder extends LeaseError {
  constructor() {
    super('ABORTED', 'This browser is not needed any more.');
  }
}

/** The pending orders of one plan, oldest first. */
export class PendingOrders {
  readonly #all = new Set<Order>();

  get size(): number {
    return this.#all.size;
  }

  /** The order that will probably be filled next; undefined: none is pending. */
  get oldest(): Order | undefined {
    return this.#all.values().next().value;
  }

  /** Whether the service currently has no browser for one of them. */
  get starve(): boolean {
    return [...this.#all].some(({ parked }) => parked);
  }

  /** How many older ones there are. */
  olderThan(order: Order): number {
    return [...this.#all].indexOf(order);
  }

  add(order: Order): void {
    this.#all.add(order);
    const settled = () => this.#all.delete(order);
    order.browser.then(settled, settled);
  }

  /** Cancels the orders beyond this number that have no request at the service. */
  keepMost(most: number): void {
    let surplus = this.#all.size - most;
    for (const order of [...this.#all].reverse()) {
      if (surplus <= 0) return;
      if (!order.parked) continue;
      this.#all.delete(order);
      order.giveUp();
      surplus -= 1;
    }
  }
}
