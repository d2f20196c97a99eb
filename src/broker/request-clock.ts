import { LeaseError } from '../errors.ts';
import type { Place } from './held-browser.ts';

/** After this long without a browser the terminal says what is being waited for, in ms … */
const NOTICE_AFTER_MS = 3_000;
/** … and then again each time so much more has passed, in ms. */
const NOTICE_AGAIN_MS = 30_000;
/** Bound on finding out what to say when the time is over, in ms. */
const EXPLAIN_MS = 3_000;

/** What a request's clock needs of its broker. */
export interface ClockOptions {
  place: Place;
  /** ms */
  acquireTimeout: number;
  /** Fires when the run ends or nothing will come any more. */
  ends: AbortSignal;
  /** What is being waited for, in a few words. */
  waitsFor(): string;
  /** The same with everything that helps, found out now. */
  explain(signal: AbortSignal): Promise<string>;
  /** Told when a request has waited long. */
  late(clock: RequestClock): void;
}

/** The clock of one worker's request for a browser: its bound, and the word to the terminal while it waits. */
export class RequestClock {
  /** Fires with the error for the user when `acquireTimeout` is over, or with the run's when that ends. */
  readonly signal: AbortSignal;
  readonly who: string;
  private readonly deadline = new AbortController();
  private readonly timers: NodeJS.Timeout[] = [];
  private readonly since = Date.now();

  constructor(private readonly options: ClockOptions) {
    const { place, acquireTimeout, ends } = options;
    this.who = `slot ${place.slot} (${place.project || 'the default project'})`;
    this.signal = AbortSignal.any([this.deadline.signal, ends]);
    this.timers.push(setTimeout(() => void this.timeOut(), acquireTimeout));
    this.timers.push(setTimeout(() => this.notice(), NOTICE_AFTER_MS));
  }

  get waitsFor(): string {
    return this.options.waitsFor();
  }

  get waitedSeconds(): number {
    return Math.round((Date.now() - this.since) / 1000);
  }

  stop(): void {
    for (const timer of this.timers) clearTimeout(timer);
  }

  private notice(): void {
    this.options.late(this);
    this.timers.push(setTimeout(() => this.notice(), NOTICE_AGAIN_MS));
  }

  private async timeOut(): Promise<void> {
    const waitedFor = this.waitsFor;
    const explained = await this.options.explain(AbortSignal.timeout(EXPLAIN_MS)).catch(() => waitedFor);
    const seconds = Math.round(this.options.acquireTimeout / 1000);
    this.deadline.abort(
      new LeaseError(
        'ACQUIRE_TIMEOUT',
        `No browser within ${seconds} s (\`acquireTimeout\`) for ${this.who}: ${explained}. Raise \`acquireTimeout\`, use fewer workers, or look at what runs: npx poolwright sessions list.`,
      ),
    );
  }
}
