import { type HeldBrowser, type Holder, isFresh, lasts, type WorkerSlot } from '../browsers/held-browser.ts';

/** A worker's request for a browser. */
export interface WorkerRequest {
  readonly holder: Holder;
  readonly slot: WorkerSlot;
  /** Minimum remaining lifetime of the browser, in ms. */
  readonly needMs: number;
  /** Whether the worker accepts a browser that another worker has used. */
  readonly takesUsed: boolean;
  /**
   * Whether this is a prefetch. Workers that need a browser now come first, and so do workers that Playwright is
   * starting.
   */
  readonly prefetch: boolean;
  /** The test attempt during which the worker prefetches; undefined if the worker does not know it. */
  readonly during?: string | undefined;
}

/** Whether an idle browser satisfies this request. */
export function suits(held: HeldBrowser, { needMs, takesUsed }: WorkerRequest, now: number): boolean {
  if (lasts(held, needMs, now)) return takesUsed || isFresh(held);
  // If no browser lasts that long, accept a fresh one with at least half of its lifetime left: a new one lives no
  // longer.
  const lifetimeMs = held.browser.lifetimeSeconds * 1000;
  return isFresh(held) && lifetimeMs < needMs && lasts(held, lifetimeMs / 2, now);
}
