/** How a caller stands in line. */
export interface Standing {
  /** Whether everybody who does not yield goes before it, at the moment when somebody may go. */
  yields?(): boolean;
  /** Joins before all others: it was let go, and has to wait again. */
  first?: boolean;
}

interface Waiter {
  go(): void;
  yields(): boolean;
}

/** Callers that wait, first come, first served, but for those that yield; each may give up. */
export class WaitingLine {
  #waiters: readonly Waiter[] = [];

  get length(): number {
    return this.#waiters.length;
  }

  /** Resolves when {@link next} lets this caller go; leaves the line and rejects with the signal's reason when that fires. */
  async join(signal: AbortSignal, { yields = () => false, first = false }: Standing = {}): Promise<void> {
    signal.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      const leave = () => {
        this.#waiters = this.#waiters.filter((each) => each !== waiter);
        signal.removeEventListener('abort', giveUp);
      };
      const giveUp = () => {
        leave();
        reject(signal.reason);
      };
      const go = () => {
        leave();
        resolve();
      };
      const waiter: Waiter = { go, yields };
      this.#waiters = first ? [waiter, ...this.#waiters] : [...this.#waiters, waiter];
      signal.addEventListener('abort', giveUp);
    });
  }

  /** Lets the one go who waits longest and does not yield; else who waits longest. */
  next(): void {
    const next = this.#waiters.find((each) => !each.yields()) ?? this.#waiters[0];
    next?.go();
  }
}
