import type { Socket } from 'node:net';
import { type Clock, systemClock, type Timer } from '../../common/clock.ts';

/** A stopped process closes no connection, and everybody who waits for it would wait for ever. */

/** How often each side of a connection gives a sign of life, in ms. */
export const PING_MS = 5_000;
/** How long the broker may be silent while something is asked of it, in ms: it answers a ping whatever else it does. */
export const BROKER_SILENT_MS = 15_000;
/** How long a runner or a script may be silent, in ms: it may load tests, or work, without a pause. */
export const RUNNER_SILENT_MS = 600_000;

const TICK_MS = 1_000;

/**
 * Calls `onSilent` once, when nothing came over a connection for as long as `bound` allows at the moment. Time in which
 * this process does nothing (it was stopped, or the machine slept) does not count: what came meanwhile is not read yet.
 * @param bound in ms; null: silence means nothing now
 */
export function watchSilence(
  socket: Socket,
  bound: () => number | null,
  onSilent: (silentMs: number) => void,
  clock: Clock = systemClock,
): void {
  let read = socket.bytesRead;
  let silentMs = 0;
  let timer: Timer;
  const tick = () => {
    const limit = bound();
    silentMs = limit === null || socket.bytesRead > read ? 0 : silentMs + TICK_MS;
    read = socket.bytesRead;
    if (limit !== null && silentMs >= limit) onSilent(silentMs);
    else later();
  };
  const later = () => {
    timer = clock.after(TICK_MS, tick);
    timer.unref();
  };
  later();
  socket.once('close', () => timer.cancel());
}
