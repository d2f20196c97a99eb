import type { Clock } from '../../../common/clock.ts';
import { errorMessage } from '../../../common/error-message.ts';
import { type LeasePlan, planKey } from '../../../options/lease-plan.ts';
import type { EndReason } from '../../../record/run-record.ts';
import type { RunRecorder } from '../../../record/run-recorder.ts';
import type { BrowserEnder } from '../../browsers/browser-ender.ts';
import type { BrowserFetcher } from '../../browsers/browser-fetcher.ts';
import type { HeldBrowser } from '../../browsers/held-browser.ts';
import type { ProjectOutlook } from './outlook.ts';
import { Supply, type SupplyOptions } from './supply.ts';

/** What supplies are made of. */
export interface SuppliesOptions {
  fetcher: Pick<BrowserFetcher, 'fetch'>;
  ender: Pick<BrowserEnder, 'end'>;
  recorder: Pick<RunRecorder, 'leaseFailed'>;
  /** Fires when no browser is lent any more; who waits gets its reason. */
  closing: AbortSignal;
  clock: Clock;
  /** See {@link SupplyOptions}. */
  idleMs?: SupplyOptions['idleMs'];
}

/** One supply a plan: projects whose browsers can stand in for each other share one, if they also use them alike. */
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
    const key = `${planKey(plan)} ${plan.reuse}`;
    const supply = this.#byKey.get(key) ?? this.#make(plan);
    this.#byKey.set(key, supply);
    this.#byPlan.set(plan, supply);
    return supply;
  }

  /** Which tests of each project are still to come; null: it is not known. Projects of workers' own are not among them. */
  expectTests(projects: readonly (ProjectOutlook & { plan: LeasePlan })[] | null): void {
    const bySupply = new Map<Supply, ProjectOutlook[]>();
    for (const { plan, ...outlook } of projects ?? []) {
      const supply = this.of(plan);
      bySupply.set(supply, [...(bySupply.get(supply) ?? []), outlook]);
    }
    for (const supply of this.all) supply.expectTests(bySupply.get(supply) ?? null);
  }

  #make(plan: LeasePlan): Supply {
    const { fetcher, ender, recorder, clock, idleMs } = this.#options;
    const supply: Supply = new Supply(
      {
        fetch: (slot, yields) => fetcher.fetch(plan, slot, yields),
        end: (held, reason) => ender.end(held, reason),
        failedUnseen: (error) => recorder.leaseFailed(errorMessage(error)),
        othersStarve: () => this.all.some((each) => each !== supply && each.starves),
      },
      { reuse: plan.reuse, clock, idleMs },
    );
    return supply;
  }

  /** Begins to end a browser, which no supply gives to anybody from then on. */
  end(held: HeldBrowser, reason: EndReason): void {
    this.of(held.plan).forget(held);
    this.#options.ender.end(held, reason);
  }
}
