import type { Socket } from 'node:net';
import { type Clock, systemClock, type Timer } from '../../common/clock.ts';

/** A stopped process closes no connection; without these limits, its peers would wait forever. */

/** How often each side of a connection sends a sign of life, in ms. */
export const PING_MS = 5_000;
/** How long the broker may be silent while requests are pending, in ms: it responds to a ping even when it is busy. */
export const BROKER_SILENT_MS = 15_000;
/** How long a runner or a script may be silent, in ms: it may load tests, or work, without a pause. */
export const RUNNER_SILENT_MS = 600_000;

const TICK_MS = 1_000;

/**
 * Calls `onSilent` once no data has arrived over a connection for as long as `bound` currently allows. Time in which
 * this process does not run (it was stopped, or the machine slept) does not count: data that arrived meanwhile is still
 * unread.
 * @param bound in ms; null: silence is currently allowed
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
