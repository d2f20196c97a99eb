import { type Clock, systemClock } from './clock.ts';

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
