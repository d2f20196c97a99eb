/**
 * Timers and clocks as they were when poolwright was loaded. Tests may replace the global ones (fake timers), and the
 * connection to the browser has to go on meanwhile.
 */
export const { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate } = globalThis;
/** ms since the epoch. */
export const dateNow: () => number = Date.now;
/** ms since this process has started, with fractions. */
export const monotonicNow: () => number = performance.now.bind(performance);

/** Time, so that what waits can be tested without waiting. */
export interface Clock {
  /** ms since the epoch. */
  now(): number;
  /** Calls `callback` once, `ms` from now. */
  after(ms: number, callback: () => void): Timer;
}

/** A call that is scheduled. */
export interface Timer {
  cancel(): void;
  /** Lets the process end before the call. */
  unref(): Timer;
}

/** The machine's clock. */
export const systemClock: Clock = {
  now: () => dateNow(),
  after(ms, callback) {
    const timeout = setTimeout(callback, ms);
    const timer: Timer = {
      cancel: () => clearTimeout(timeout),
      unref: () => {
        timeout.unref();
        return timer;
      },
    };
    return timer;
  },
};

export function isoTime(clock: Clock): string {
  return new Date(clock.now()).toISOString();
}
