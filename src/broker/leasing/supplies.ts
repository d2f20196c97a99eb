import type { Clock } from '../../common/clock.ts';
import { errorMessage } from '../../common/error-message.ts';
import { type LeasePlan, planKey } from '../../options/lease-plan.ts';
import type { EndReason } from '../../record/run-record.ts';
import type { RunRecorder } from '../../record/run-recorder.ts';
import type { BrowserEnder } from '../browsers/browser-ender.ts';
import type { BrowserFetcher } from '../browsers/browser-fetcher.ts';
import type { HeldBrowser } from '../browsers/held-browser.ts';
import { Supply } from './supply.ts';

/** What supplies are made of. */
export interface SuppliesOptions {
  fetcher: Pick<BrowserFetcher, 'fetch'>;
  ender: Pick<BrowserEnder, 'end'>;
  recorder: Pick<RunRecorder, 'leaseFailed'>;
  /** Fires when no browser is lent any more; who waits gets its reason. */
  closing: AbortSignal;
  clock: Clock;
  /** See {@link Supply}. */
  idleMs?: number | undefined;
}

/** One supply a plan: projects whose browsers can stand in for each other share one. */
export class Supplies {
  readonly #byKey = new Map<string, Supply>();
  /** The same, found at once: the plans of a run are always the same objects. */
  readonly #byPlan = new WeakMap<LeasePlan, Supply>();

  readonly #options: SuppliesOptions;

  constructor(options: SuppliesOptions) {
    this.#options = options;
    const { closing } = options;
    closing.addEventListener('abort', () => {
      for (const supply of this.all) supply.refuseAll(closing.reason);
    });
  }

  get all(): Supply[] {
    return [...this.#byKey.values()];
  }

  /** The supply of a plan, made on first need. */
  of(plan: LeasePlan): Supply {
    const known = this.#byPlan.get(plan);
    if (known) return known;
    const key = planKey(plan);
    const supply = this.#byKey.get(key) ?? this.#make(plan);
    this.#byKey.set(key, supply);
    this.#byPlan.set(plan, supply);
    return supply;
  }

  #make(plan: LeasePlan): Supply {
    const { fetcher, ender, recorder, clock, idleMs } = this.#options;
    return new Supply(
      {
        fetch: (slot, yields) => fetcher.fetch(plan, slot, yields),
        end: (held, reason) => ender.end(held, reason),
        failedUnseen: (error) => recorder.leaseFailed(errorMessage(error)),
      },
      clock,
      idleMs,
    );
  }

  /** Begins to end a browser, which no supply gives to anybody from then on. */
  end(held: HeldBrowser, reason: EndReason): void {
    this.of(held.plan).forget(held);
    this.#options.ender.end(held, reason);
  }
}
