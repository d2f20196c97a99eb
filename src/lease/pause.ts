import { setTimeout as delay } from 'node:timers/promises';

/** Waits `ms` (bounded by its argument); rejects at once with the signal's reason when it fires. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await delay(ms, undefined, { signal });
  } catch {
    throw signal.reason;
  }
}
