/** Time, so that what waits can be tested without waiting. */
export interface Clock {
  /** ms since the epoch. */
  now(): number;
  /** Calls `back` once, `ms` from now. */
  after(ms: number, back: () => void): Timer;
}

/** A call that is to come. */
export interface Timer {
  cancel(): void;
  /** Does not keep the process alive for it. */
  unref(): void;
}

/** The machine's. */
export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, back) {
    const timeout = setTimeout(back, ms);
    return { cancel: () => clearTimeout(timeout), unref: () => void timeout.unref() };
  },
};
