import { setTimeout as delay } from 'node:timers/promises';
import type { TestInfo } from '@playwright/test';

/**
 * A workaround for Playwright: option fixtures also run around `beforeAll` and `afterAll` hooks, with the `testInfo` of
 * a test, and nothing says which of them it is. But `duration` is zero until the test itself has run.
 */

/** Minimum time of a test, in ms, so that its `duration` is not zero. */
const TICK_MS = 2;

/** Whether what has ended was a hook before the test. */
export function wasHook({ duration, errors }: TestInfo): boolean {
  return duration === 0 && errors.length === 0;
}

/** Makes a test last long enough: without a separate context, it may end in less than a millisecond. */
export async function lastMeasurably(): Promise<void> {
  await delay(TICK_MS);
}
