import pTimeout from 'p-timeout';
import { type Clock, clearTimeout, setTimeout, systemClock } from './clock.ts';

/** Waits `ms` (bounded by its argument); rejects at once with the signal's reason when it fires. */
export async function pause(ms: number, signal: AbortSignal, clock: Clock = systemClock): Promise<void> {
  signal.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const stop = () => {
      timer.cancel();
      reject(signal.reason);
    };
    const timer = clock.after(ms, () => {
      signal.removeEventListener('abort', stop);
      resolve();
    });
    signal.addEventListener('abort', stop, { once: true });
  });
}

/** The result of a promise, or `late` if it takes longer than `ms`; a later result or rejection is ignored. */
export async function within<Value, Late>(promise: Promise<Value>, ms: number, late: Late): Promise<Value | Late> {
  const customTimers = { setTimeout, clearTimeout };
  return await pTimeout(promise, { milliseconds: Math.max(1, ms), fallback: () => late, customTimers });
}
