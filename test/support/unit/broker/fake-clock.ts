import type { Clock, Timer } from '../../../../src/common/clock.ts';

interface Pending {
  at: number;
  back(): void;
}

/** A clock that advances only when the test advances it. */
export class FakeClock implements Clock {
  private readonly pending = new Set<Pending>();
  /** Any time except 0, so that a missing time is noticed. */
  private time = Date.parse('2030-01-01T00:00:00Z');

  now(): number {
    return this.time;
  }

  after(ms: number, back: () => void): Timer {
    const pending = { at: this.time + ms, back };
    this.pending.add(pending);
    const timer: Timer = { cancel: () => void this.pending.delete(pending), unref: () => timer };
    return timer;
  }

  async sleep(ms: number): Promise<void> {
    await new Promise<void>((resolve) => this.after(ms, resolve));
  }

  /** Runs everything that is due within `ms`, in order, including everything that follows at once. */
  async advance(ms: number): Promise<void> {
    const until = this.time + ms;
    await settled();
    for (let next = this.next(); next !== null && next.at <= until; next = this.next()) {
      this.pending.delete(next);
      this.time = next.at;
      next.back();
      await settled();
    }
    this.time = until;
  }

  /** Number of set timers. */
  get timers(): number {
    return this.pending.size;
  }

  private next(): Pending | null {
    let next: Pending | null = null;
    for (const each of this.pending) if (next === null || each.at < next.at) next = each;
    return next;
  }
}

/** Resolves when every promise that can continue has continued. */
export async function settled(): Promise<void> {
  await new Promise<void>((resolve) => setImmediate(resolve));
}
