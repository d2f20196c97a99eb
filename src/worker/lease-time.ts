import inspector from 'node:inspector';
import type { LeasedBrowser } from '../broker/rpc/protocol.ts';
import { RUNNER_SILENT_MS } from '../broker/rpc/silence.ts';

/** Whether a test fits into what is left of a browser's life. */

/** What a test needs beyond its timeout, in ms: fixtures and hooks around it, and two clocks that differ. */
const MARGIN_MS = 15_000;

/** A worker may be silent for so long at least, in ms: a hook may run a command synchronously. */
const LEAST_SILENT_MS = 60_000;

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

/**
 * How long a worker whose test needs its browser for that long (0: no time limit) may be silent, in ms: then its test is over
 * its time, whatever the worker does. Null, for ever, under a debugger: it stands at a breakpoint.
 */
export function silenceFor(neededMs: number): number | null {
  if (inspector.url() !== undefined) return null;
  return neededMs === 0 ? RUNNER_SILENT_MS : Math.max(neededMs, LEAST_SILENT_MS);
}
