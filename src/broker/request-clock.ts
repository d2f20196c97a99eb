import { LeaseError } from '../errors.ts';
import type { LeasePlan } from '../options/lease-plan.ts';
import type { Log } from './log.ts';

/** After this long without a browser the terminal says what is being waited for, in ms. */
const NOTICE_AFTER_MS = 3_000;

/** The clock of one request for a browser: its bound, and the word to the terminal while it waits. */
export class RequestClock {
  /** Fires with the error for the user when `acquireTimeout` is over, or with the run's when that ends. */
  readonly signal: AbortSignal;
  private readonly timers: NodeJS.Timeout[];
  private waitingFor: string;

  constructor(
    plan: LeasePlan,
    private readonly who: string,
    runEnds: AbortSignal,
    private readonly log: Log,
  ) {
    this.waitingFor =
      plan.pool === null ? 'waiting for the service to start one' : 'waiting for the pool to have one ready';
    const deadline = new AbortController();
    this.timers = [
      setTimeout(() => deadline.abort(this.timedOut(plan.acquireTimeout)), plan.acquireTimeout),
      setTimeout(() => log.notice(`${who} still has no browser: ${this.waitingFor}`), NOTICE_AFTER_MS),
    ];
    this.signal = AbortSignal.any([deadline.signal, runEnds]);
  }

  /** The request waits for something else now. */
  waits(what: string): void {
    this.waitingFor = what;
    this.log.info(`${this.who}: ${what}`);
  }

  stop(): void {
    for (const timer of this.timers) clearTimeout(timer);
  }

  private timedOut(acquireTimeout: number): LeaseError {
    const seconds = Math.round(acquireTimeout / 1000);
    return new LeaseError(
      'ACQUIRE_TIMEOUT',
      `No browser within ${seconds} s (\`acquireTimeout\`) for ${this.who}: ${this.waitingFor}. Raise \`acquireTimeout\`, use fewer workers, or look at what runs: npx poolwright sessions list.`,
    );
  }
}
