import type { HoldEnd } from '../../../record/enums.ts';

/** How long a hold lasts at most, in ms. */
export const HOLD_MS = 600_000;
/** How long before its browser ends a hold is over, in ms: the test needs it for what follows. */
const LEFT_MS = 15_000;

/** When a hold ends by itself, in ms since the epoch, and why. */
export interface HoldLimit {
  until: number;
  end: Extract<HoldEnd, 'lease-end' | 'time-limit'>;
}

/** @param expiresAt when the browser ends, ISO 8601 */
export function holdLimit(expiresAt: string, now: number): HoldLimit {
  const leaseEnd = Date.parse(expiresAt) - LEFT_MS;
  const longest = now + HOLD_MS;
  return leaseEnd < longest ? { until: leaseEnd, end: 'lease-end' } : { until: longest, end: 'time-limit' };
}
