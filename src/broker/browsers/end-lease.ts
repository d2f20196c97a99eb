import { type Clock, systemClock } from '../../common/clock.ts';
import { pause } from '../../common/pause.ts';
import { PoolwrightError } from '../../errors.ts';
import { isRefusedForGood } from '../../providers/failure-policy.ts';
import type { BrowserProvider, Endable, ReleaseOptions } from '../../providers/port.ts';

/** Delay between two attempts to end a browser, in ms; grows from `first` to `most`. */
const RETRY_MS = { first: 1_000, most: 15_000 } as const;

export interface Ending extends Pick<ReleaseOptions, 'reason'> {
  provider: Pick<BrowserProvider, 'release'>;
  browser: Endable;
  /** Fires when the caller stops waiting for the confirmation. */
  signal: AbortSignal;
  /** Called before each further attempt. */
  onRetry?(why: unknown): void;
  /** Default: the machine's. */
  clock?: Clock;
}

/**
 * Ends one browser: repeats until its end is confirmed. This is the only place that does so for a browser that this
 * process has acquired.
 * @returns null once confirmed; else the reason why not: the call was refused for good, or the signal has fired
 */
export async function untilEnded({ provider, browser, signal, reason, onRetry, clock }: Ending): Promise<unknown> {
  let last: unknown;
  for (let wait: number = RETRY_MS.first; ; wait = Math.min(wait * 2, RETRY_MS.most)) {
    try {
      await provider.release(browser, { signal, reason });
      return null;
    } catch (error) {
      last = isAborted(error) ? (last ?? error) : error;
      if (signal.aborted || isRefusedForGood(error)) return last;
      onRetry?.(error);
    }
    try {
      await pause(wait, signal, clock ?? systemClock);
    } catch {
      return last;
    }
  }
}

function isAborted(error: unknown): boolean {
  return error instanceof PoolwrightError && error.code === 'ABORTED';
}
