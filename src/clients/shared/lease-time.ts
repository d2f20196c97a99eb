import inspector from 'node:inspector';
import type { LeasedBrowser } from '../../broker/rpc/messages/protocol.ts';
import { RUNNER_SILENT_MS } from '../../broker/rpc/silence.ts';
import { dateNow } from '../../common/clock.ts';

/** Whether a browser lasts long enough for a test. */

/** What a test needs beyond its timeout, in ms, for fixtures, hooks and clock differences. */
const MARGIN_MS = 15_000;

/** Minimum time for which a worker may be silent, in ms: a hook may run a command synchronously. */
const MIN_SILENT_MS = 60_000;

/** How long a browser must last for a test with this timeout (0: none), in ms. */
export function requiredLifetime(timeoutMs: number): number {
  return timeoutMs === 0 ? 0 : timeoutMs + MARGIN_MS;
}

/**
 * Whether a test that begins now needs a new browser. A test that may take longer than any browser lasts accepts one
 * that has half its lifetime left, because a new browser for every such test would be waste.
 */
export function endsTooSoon(lease: LeasedBrowser, neededMs: number): boolean {
  const left = Date.parse(lease.expiresAt) - dateNow();
  return left < (exceedsLifetime(lease, neededMs) ? lease.lifetimeMs / 2 : neededMs);
}

/**
 * Whether a prefetched browser may be used for the test that begins now. Part of its lifetime has passed, so the margin
 * is not required: otherwise a browser that lasts little longer than a test would never be accepted.
 */
export function lastsForTest(lease: LeasedBrowser, neededMs: number): boolean {
  return !endsTooSoon(lease, exceedsLifetime(lease, neededMs) ? neededMs : neededMs - MARGIN_MS);
}

/** Whether a test may take longer than any browser of this kind lasts. */
export function exceedsLifetime(lease: LeasedBrowser, neededMs: number): boolean {
  return neededMs === 0 || neededMs > lease.lifetimeMs;
}

/** A message when a test that needs `neededMs` (0: no limit) may take longer than its browser lasts; else null. */
export function lifetimeWarning(lease: LeasedBrowser, neededMs: number): string | null {
  if (neededMs === 0 || !exceedsLifetime(lease, neededMs)) return null;
  const limit = lease.leaseId === null ? 'the `duration` of its session' : "the pool's `leaseTimeoutSeconds`";
  return `this test may run for ${seconds(neededMs)} s (its timeout and a margin), but its hosted browser ends after ${seconds(lease.lifetimeMs)} s (${limit}). If it takes that long, it loses the browser. Lower the test's timeout or raise the limit.`;
}

/**
 * How long a worker may be silent, in ms, when its test needs the browser for `neededMs` (0: no limit). After that, the
 * test has exceeded its timeout. Null, no limit, under a debugger, which may stop at a breakpoint.
 */
export function allowedSilence(neededMs: number): number | null {
  if (inspector.url() !== undefined) return null;
  return neededMs === 0 ? RUNNER_SILENT_MS : Math.max(neededMs, MIN_SILENT_MS);
}

function seconds(ms: number): number {
  return Math.round(ms / 1000);
}
