import { type HeldBrowser, type Holder, isFresh, lasts, type WorkerSlot } from '../../browsers/held-browser.ts';

/** A worker's request for a browser. */
export interface Asked {
  readonly holder: Holder;
  readonly slot: WorkerSlot;
  /** How long the browser must last at least, in ms. */
  readonly needMs: number;
  /** Whether it takes one that another worker has used. */
  readonly takesUsed: boolean;
  /** Whether it is for later: who needs a browser now comes first, and so do workers that are being started. */
  readonly ahead: boolean;
  /** The try of a test during which it is asked for ahead; undefined where the worker knows none. */
  readonly during?: string | undefined;
}

/** Whether a browser that has been here for a while will do. */
export function suits(held: HeldBrowser, { needMs, takesUsed }: Asked, now: number): boolean {
  if (lasts(held, needMs, now)) return takesUsed || isFresh(held);
  // Where no browser lasts that long, a fresh one with most of its life before it is as good as the next.
  const lifetimeMs = held.browser.lifetimeSeconds * 1000;
  return isFresh(held) && lifetimeMs < needMs && lasts(held, lifetimeMs / 2, now);
}
