import type { LeasedBrowser } from '../broker/rpc/protocol.ts';

/** Whether a test fits into what is left of a browser's life. */

/** What a test needs beyond its timeout, in ms: fixtures and hooks around it, and two clocks that differ. */
const MARGIN_MS = 15_000;

/** How long a browser must last for a test with this timeout (0: none), in ms. */
export function neededFor(timeoutMs: number): number {
  return timeoutMs === 0 ? 0 : timeoutMs + MARGIN_MS;
}

/**
 * Whether a test that begins now should run on a fresh browser. One that no browser outlives gets one that is at least
 * half new: no browser lasts longer, and a fresh one for every test would be waste.
 */
export function tooShort(lease: LeasedBrowser, neededMs: number): boolean {
  const left = Date.parse(lease.expiresAt) - Date.now();
  return left < (exceedsLifetime(lease, neededMs) ? lease.lifetimeMs / 2 : neededMs);
}

/**
 * Whether a browser that was fetched ahead may serve the test that begins now. It has aged meanwhile, and need not have
 * the margin any more: a browser that lives hardly longer than a test needs would never be taken.
 */
export function lastsForNext(lease: LeasedBrowser, neededMs: number): boolean {
  return !tooShort(lease, exceedsLifetime(lease, neededMs) ? neededMs : neededMs - MARGIN_MS);
}

/** Whether a test with this need may outlive every browser of this kind. */
export function exceedsLifetime(lease: LeasedBrowser, neededMs: number): boolean {
  return neededMs === 0 || neededMs > lease.lifetimeMs;
}
