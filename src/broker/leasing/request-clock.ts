import { setMaxListeners } from 'node:events';
import type { Clock, Timer } from '../../common/clock.ts';
import { LeaseError } from '../../errors.ts';
import type { WorkerSlot } from '../browsers/held-browser.ts';

/** After this long without a browser the terminal says what is being waited for, in ms … */
const NOTICE_AFTER_MS = 3_000;
/** … and then again each time so much more has passed, in ms. */
const NOTICE_AGAIN_MS = 30_000;
/** So long before the time is over it is found out what to say then, in ms; a short time gets a quarter of itself. */
const EXPLAIN_MS = 3_000;

/** What a request's clock needs of its broker. */
export interface ClockOptions {
  slot: WorkerSlot;
  /** ms */
  acquireTimeout: number;
  /** Each fires when nobody waits any more: the run ends, nothing will come, the worker has gone. */
  ends: readonly AbortSignal[];
  /** What is being waited for, in a few words. */
  waitsFor(): string;
  /** The same with everything that helps, found out now. */
  explain(signal: AbortSignal): Promise<string>;
  /** Told when a request has waited long. */
  late(clock: RequestClock): void;
  clock: Clock;
}

/** The clock of one worker's request for a browser: its bound, and the word to the terminal while it waits. */
export class RequestClock {
  readonly who: string;
  readonly #over = new AbortController();
  readonly #explaining = new AbortController();
  readonly #timers: Timer[] = [];
  readonly #since: number;
  /** What was found out about the wait; null: not yet. */
  #explained: string | null = null;

  readonly #options: ClockOptions;

  constructor(options: ClockOptions) {
    this.#options = options;

    const { slot, acquireTimeout, ends, clock } = options;
    // Not `AbortSignal.any`: the signals live as long as the run, and would remember every request.
    // As many as there are workers wait for the same end: that is no leak, which Node would tell the terminal.
    setMaxListeners(0, ...ends);
    for (const signal of ends) signal.addEventListener('abort', this.#end);
    this.#since = clock.now();
    this.who = `slot ${slot.index} (${slot.project || 'the default project'})`;
    const explainMs = Math.min(EXPLAIN_MS, acquireTimeout / 4);
    this.#timers.push(clock.after(acquireTimeout - explainMs, () => void this.#explain()));
    this.#timers.push(clock.after(acquireTimeout, () => this.#timeOut()));
    this.#timers.push(clock.after(NOTICE_AFTER_MS, () => this.#notice()));
  }

  /** Fires with the error for the user when `acquireTimeout` is over, or with the reason of what else ends the wait. */
  get signal(): AbortSignal {
    return this.#over.signal;
  }

  get waitsFor(): string {
    return this.#options.waitsFor();
  }

  get waitedSeconds(): number {
    return Math.round((this.#options.clock.now() - this.#since) / 1000);
  }

  stop(): void {
    for (const timer of this.#timers) timer.cancel();
    for (const signal of this.#options.ends) signal.removeEventListener('abort', this.#end);
    this.#explaining.abort(new Error('nobody waits'));
  }

  readonly #end = (event: Event): void => {
    this.#over.abort((event.target as AbortSignal).reason);
  };

  #notice(): void {
    this.#options.late(this);
    this.#timers.push(this.#options.clock.after(NOTICE_AGAIN_MS, () => this.#notice()));
  }

  /** Before the time is over, so that it is not exceeded by this. */
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
