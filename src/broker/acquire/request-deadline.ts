import type { Clock, Timer } from '../../common/clock.ts';
import { LeaseError } from '../../errors.ts';
import type { WorkerSlot } from '../browsers/held-browser.ts';

/** After this wait without a browser, the terminal shows what the request waits for, in ms … */
const NOTICE_AFTER_MS = 3_000;
/** … and repeats it at this interval, in ms. */
const NOTICE_AGAIN_MS = 30_000;
/** How long before the timeout to collect details for its message, in ms; a short timeout uses a quarter of itself. */
const EXPLAIN_MS = 3_000;

export interface DeadlineOptions {
  slot: WorkerSlot;
  /** ms */
  acquireTimeout: number;
  /** What the request waits for, in a few words. */
  waitsFor(): string;
  /** The same in detail, from a fresh request to the service. */
  explain(signal: AbortSignal): Promise<string>;
  /** Asked at the deadline: whether to wait once more as long. */
  waitsOn(): boolean;
  /** Called when the request has waited long. */
  onLate(deadline: RequestDeadline): void;
  clock: Clock;
}

/** The deadline of one worker's request for a browser, with the notices for the terminal while it waits. */
export class RequestDeadline {
  readonly who: string;
  readonly #over = new AbortController();
  readonly #explaining = new AbortController();
  readonly #timers: Timer[] = [];
  /** When the request was made, in ms since the epoch. */
  readonly since: number;
  /** Details about the wait; null: not collected yet. */
  #explained: string | null = null;
  readonly #options: DeadlineOptions;

  constructor(options: DeadlineOptions) {
    this.#options = options;
    const { slot, acquireTimeout, clock } = options;
    this.since = clock.now();
    this.who = `slot ${slot.index} (${slot.project || 'the default project'})`;
    const explainMs = Math.min(EXPLAIN_MS, acquireTimeout / 4);
    const arm = () => {
      this.#timers.push(clock.after(acquireTimeout - explainMs, () => void this.#explain()));
      this.#timers.push(clock.after(acquireTimeout, () => (options.waitsOn() ? arm() : this.#timeOut())));
    };
    arm();
    this.#timers.push(clock.after(NOTICE_AFTER_MS, () => this.#notice()));
  }

  /** Fires with the user's error message when `acquireTimeout` is over, or with the reason given to {@link end}. */
  get signal(): AbortSignal {
    return this.#over.signal;
  }

  get waitsFor(): string {
    return this.#options.waitsFor();
  }

  get waitedSeconds(): number {
    return Math.round((this.#options.clock.now() - this.since) / 1000);
  }

  /** Cancels the request. */
  end(reason: Error): void {
    this.#over.abort(reason);
  }

  /** Ends the timers of a finished request. */
  stop(): void {
    for (const timer of this.#timers) timer.cancel();
    this.#explaining.abort(new Error('the request is over'));
  }

  #notice(): void {
    this.#options.onLate(this);
    this.#timers.push(this.#options.clock.after(NOTICE_AGAIN_MS, () => this.#notice()));
  }

  /** Collects the details before the timeout, so that this does not extend it. */
  async #explain(): Promise<void> {
    this.#explained = await this.#options.explain(this.#explaining.signal).catch(() => null);
  }

  #timeOut(): void {
    const explained = this.#explained ?? this.waitsFor;
    this.#explaining.abort(new Error('the time is over'));
    const seconds = Math.round(this.#options.acquireTimeout / 1000);
    this.#over.abort(
      new LeaseError(
        'ACQUIRE_TIMEOUT',
        `No browser within ${seconds} s (\`acquireTimeout\`) for ${this.who}: ${explained}. Raise \`acquireTimeout\`, use fewer workers, or look at what runs: npx poolwright sessions list.`,
      ),
    );
  }
}
