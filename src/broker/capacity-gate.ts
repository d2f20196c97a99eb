import type { ServiceClient } from '../service/index.ts';

/** How often the session list is looked at while requests are parked, in ms. */
const WATCH_INTERVAL_MS = 5_000;

interface Waiter {
  resolve(): void;
}

/**
 * Parks requests that the service refused with `403 Session limit reached`, and wakes them one at a time: when one of
 * this run's browsers ends, or when the session list shows fewer running than at the refusal. Never asks to create in
 * a loop (section 7 of the service document).
 */
export class CapacityGate {
  private readonly waiters: Waiter[] = [];
  private watch: NodeJS.Timeout | null = null;
  private runningAtRefusal: number | null = null;

  constructor(private readonly client: ServiceClient) {}

  /** Number of requests parked. */
  get parked(): number {
    return this.waiters.length;
  }

  /** Resolves when it is this request's turn to ask again; rejects with the signal's reason. */
  async wait(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      const leave = () => {
        const at = this.waiters.indexOf(waiter);
        if (at >= 0) this.waiters.splice(at, 1);
        signal.removeEventListener('abort', onAbort);
        if (this.waiters.length === 0) this.stopWatching();
      };
      const onAbort = () => {
        leave();
        reject(signal.reason);
      };
      const waiter: Waiter = {
        resolve: () => {
          leave();
          resolve();
        },
      };
      this.waiters.push(waiter);
      signal.addEventListener('abort', onAbort);
      this.startWatching();
    });
  }

  /** A browser of this run has ended: its slot is free for the request that waits longest. */
  slotFreed(): void {
    this.waiters[0]?.resolve();
  }

  private startWatching(): void {
    if (this.watch) return;
    this.runningAtRefusal = null;
    const look = async () => {
      const running = await this.countRunning();
      if (running !== null) {
        if (this.runningAtRefusal !== null && running < this.runningAtRefusal) this.slotFreed();
        this.runningAtRefusal = running;
      }
      if (this.watch) this.watch = setTimeout(look, WATCH_INTERVAL_MS).unref();
    };
    this.watch = setTimeout(look, 0).unref();
  }

  private stopWatching(): void {
    if (this.watch) clearTimeout(this.watch);
    this.watch = null;
  }

  /** Null when the list could not be had this time. */
  private async countRunning(): Promise<number | null> {
    try {
      let count = 0;
      for (const status of ['active', 'starting'] as const) {
        for await (const _session of this.client.iterateSessions({ status, pageSize: 100 })) count += 1;
      }
      return count;
    } catch {
      return null;
    }
  }
}
