import { LeaseError } from '../errors.ts';
import { claim, type HeldBrowser, type Holder, isFresh, lasts, type Place } from './held-browser.ts';

/** A browser on its way from the service. */
export interface Fetch {
  /** Resolves with an idle browser. */
  readonly browser: Promise<HeldBrowser>;
  /** Whether nothing of it is at the service at the moment, so that it can be given up without a trace. */
  readonly parked: boolean;
  /** What it waits for, in a few words. */
  readonly waitsFor: string;
  /** The same with everything that helps, found out now. */
  explain(signal: AbortSignal): Promise<string>;
  /** Gives a parked one up; `browser` rejects. */
  giveUp(): void;
}

/** A worker that waits for a browser. */
export interface Waiter {
  readonly holder: Holder;
  readonly place: Place;
  /** How long the browser must last at least, in ms. */
  readonly needMs: number;
  /** Whether it takes one that another worker has used. */
  readonly takesUsed: boolean;
  /** Whether it only will need one: who needs one now comes first. */
  readonly ahead: boolean;
  readonly since: number;
  resolve(held: HeldBrowser): void;
  reject(error: unknown): void;
}

/** What a supply asks its registry to do. */
export interface SupplyActions {
  fetch(place: Place): Fetch;
  end(held: HeldBrowser, reason: 'idle' | 'expired'): void;
  /** A fetch failed that nobody was waiting for. */
  failedUnseen(error: unknown): void;
}

/** How long a browser waits that nobody is known to need, in ms. */
const IDLE_MS = 5_000;
/** How long it waits for the worker that replaces its last one, in ms: a busy machine takes a while to start one. */
const REPLACED_IDLE_MS = 15_000;
/** How long one that was fetched ahead waits for its first worker, which Playwright is still starting, in ms. */
const AHEAD_IDLE_MS = 30_000;

/**
 * The browsers of one plan: who waits for one, what is on its way, what is idle. As many are fetched as workers wait or
 * are expected; who waits longest gets the next one, whichever it is: a fresh one or one that another worker gave back.
 */
export class Supply {
  private readonly waiters: Waiter[] = [];
  private readonly fetches = new Set<Fetch>();
  private readonly idle = new Set<HeldBrowser>();
  /** Workers that Playwright will start and that have not asked yet. */
  private expected = 0;

  constructor(private readonly actions: SupplyActions) {}

  /** Workers that wait. */
  get waiting(): number {
    return this.waiters.length;
  }

  /** Who waits longest: for how long, in ms, and what for; null: nobody waits. */
  get longest(): { waitedMs: number; waitsFor: string } | null {
    const [first] = this.waiters;
    return first ? { waitedMs: Date.now() - first.since, waitsFor: this.waitsFor } : null;
  }

  /** What is being waited for, in a few words. */
  get waitsFor(): string {
    return this.oldestFetch?.waitsFor ?? 'waiting for a browser';
  }

  /** The same with everything that helps, found out now. */
  async explain(signal: AbortSignal): Promise<string> {
    return (await this.oldestFetch?.explain(signal)) ?? this.waitsFor;
  }

  /** Fetches a browser for a worker that will ask soon. */
  expect(place: Place): void {
    this.expected += 1;
    this.fetch(place);
  }

  /** A browser for a worker: an idle one at once, else the next one. Rejects when `signal` fires. */
  take(asked: Omit<Waiter, 'since' | 'resolve' | 'reject'>, signal: AbortSignal): Promise<HeldBrowser> {
    this.expected = Math.max(0, this.expected - 1);
    return new Promise((resolve, reject) => {
      const leave = () => {
        const at = this.waiters.indexOf(waiter);
        if (at >= 0) this.waiters.splice(at, 1);
        signal.removeEventListener('abort', giveUp);
      };
      const giveUp = () => {
        leave();
        this.dropSurplus();
        reject(signal.reason);
      };
      const waiter: Waiter = {
        ...asked,
        since: Date.now(),
        resolve: (held) => {
          leave();
          claim(held, waiter.holder, waiter.place, Date.now() - waiter.since);
          resolve(held);
        },
        reject: (error) => {
          leave();
          reject(error);
        },
      };
      if (signal.aborted) {
        reject(signal.reason);
        return;
      }
      const idle = this.bestIdle(waiter);
      if (idle) {
        this.idle.delete(idle);
        waiter.resolve(idle);
        return;
      }
      this.waiters.push(waiter);
      signal.addEventListener('abort', giveUp);
      if (this.fetches.size < this.waiters.length + this.unfilled()) this.fetch(waiter.place);
    });
  }

  /** A browser has come, or come back: for who waits longest and can use it, else idle for a while. */
  offer(held: HeldBrowser, toBeReplaced = false): void {
    const waiter = this.waiters.find((each) => suits(held, each));
    if (waiter) {
      waiter.resolve(held);
      this.dropSurplus();
      return;
    }
    held.state = 'idle';
    held.holder = null;
    this.idle.add(held);
    const ahead = isFresh(held) && this.expected > 0;
    const idleMs = ahead ? AHEAD_IDLE_MS : toBeReplaced ? REPLACED_IDLE_MS : IDLE_MS;
    held.idleTimer = setTimeout(() => this.discard(held, 'idle'), idleMs);
  }

  /** Every worker that waits gets this error, and nothing more is fetched for them. */
  refuseAll(error: unknown): void {
    this.expected = 0;
    for (const waiter of [...this.waiters]) waiter.reject(error);
    this.dropSurplus();
  }

  /** Forgets an idle browser that is being ended. */
  forget(held: HeldBrowser): void {
    this.idle.delete(held);
  }

  /** The one that has been under way longest: what the workers wait for. */
  private get oldestFetch(): Fetch | undefined {
    const [oldest] = this.fetches;
    return oldest;
  }

  private fetch(place: Place): void {
    const fetch = this.actions.fetch(place);
    this.fetches.add(fetch);
    fetch.browser.then(
      (held) => {
        this.fetches.delete(fetch);
        this.offer(held);
      },
      (error: unknown) => {
        this.fetches.delete(fetch);
        if (error instanceof SurplusFetch) return;
        // One failure is one worker's; the fetches of the others are still under way.
        const [first] = this.waiters;
        if (first && this.fetches.size < this.waiters.length) first.reject(error);
        else {
          this.expected = Math.max(0, this.expected - 1);
          this.actions.failedUnseen(error);
        }
      },
    );
  }

  /** Gives up what nobody waits for any more, as far as it is not at the service already. */
  private dropSurplus(): void {
    let surplus = this.fetches.size - this.waiters.length - this.unfilled();
    for (const fetch of [...this.fetches].reverse()) {
      if (surplus <= 0) return;
      if (!fetch.parked) continue;
      this.fetches.delete(fetch);
      fetch.giveUp();
      surplus -= 1;
    }
  }

  /** Expected workers for whom no browser is here yet. */
  private unfilled(): number {
    return Math.max(0, this.expected - [...this.idle].filter(isFresh).length);
  }

  /** The same slot's before any other. */
  private bestIdle(waiter: Waiter): HeldBrowser | null {
    for (const held of [...this.idle]) {
      if (!isFresh(held) && !lasts(held, waiter.needMs)) this.discard(held, 'expired');
    }
    const fitting = [...this.idle].filter((held) => suits(held, waiter));
    return fitting.find((held) => held.place.slot === waiter.place.slot) ?? fitting[0] ?? null;
  }

  private discard(held: HeldBrowser, reason: 'idle' | 'expired'): void {
    this.idle.delete(held);
    if (isFresh(held)) this.expected = Math.max(0, this.expected - 1);
    this.actions.end(held, reason);
  }
}

/** Ends a fetch that is not needed any more. */
export class SurplusFetch extends LeaseError {
  constructor() {
    super('ABORTED', 'This browser is not needed any more.');
  }
}

function suits(held: HeldBrowser, waiter: Waiter): boolean {
  // One that just came is as long-lived as they get.
  return isFresh(held) || (waiter.takesUsed && lasts(held, waiter.needMs));
}
