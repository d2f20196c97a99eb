/** Time as the emulator's states see it, so that tests of durations and lease timeouts need not wait a minute. */
export interface Clock {
  /** Unix time in ms. */
  now(): number;
  /** Calls `callback` once after `ms`; the answer cancels it. Never keeps the process alive. */
  after(ms: number, callback: () => void): () => void;
}

export const systemClock: Clock = {
  now: Date.now,
  after(ms, callback) {
    const timer = setTimeout(callback, ms);
    timer.unref();
    return () => clearTimeout(timer);
  },
};

/** A session or pool timestamp: ISO 8601. */
export function isoTime(clock: Clock): string {
  return new Date(clock.now()).toISOString();
}
