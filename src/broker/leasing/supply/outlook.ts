import type { LeasePlan } from '../../../options/lease-plan.ts';
import type { RemainingParams } from '../../rpc/protocol.ts';
import type { Asked } from './asked.ts';

/** What the runner says of the tests of one project. */
export type ProjectOutlook = Omit<RemainingParams['projects'][number], 'project'>;

/** Which tests of one plan are still to come, and what follows for its browsers. */
export class Outlook {
  #projects: readonly ProjectOutlook[] | null = null;
  #wasTold = false;

  readonly #reuse: LeasePlan['reuse'];

  constructor(reuse: LeasePlan['reuse']) {
    this.#reuse = reuse;
  }

  /** @param projects null: it is not known */
  tell(projects: readonly ProjectOutlook[] | null): void {
    this.#projects = projects;
    this.#wasTold ||= projects !== null;
  }

  get isKnown(): boolean {
    return this.#projects !== null;
  }

  /** Whether a test that is to come is certain to use a fresh browser. @param lent how many were lent so far */
  needsFresh(lent: number): boolean {
    if (this.#reuse === 'test') return this.isKnown && this.asksLeft(lent) > 0;
    return this.#projects?.some(({ certain }) => certain > 0) ?? false;
  }

  /**
   * With `reuse: 'test'`: how many more browsers are certain to be asked for. Whatever is fetched before it is asked for
   * stays below. Infinity where that is not counted.
   */
  asksLeft(lent: number): number {
    if (this.#reuse !== 'test') return Number.POSITIVE_INFINITY;
    if (this.#projects) return sum(this.#projects, ({ asks }) => asks) - lent;
    // The runner that counted them is gone, or its line is.
    return this.#wasTold ? 0 : Number.POSITIVE_INFINITY;
  }

  /** How many idle browsers can be of use to tests. @param served slots of workers that have a browser */
  idleNeeds(served: ReadonlySet<number>): { used: number; fresh: number } {
    const projects = this.#projects ?? [];
    const running = projects.flatMap((each) => each.running);
    // One that runs a test may have its browser already: of that it is known too late.
    if (this.#reuse === 'test') return { used: 0, fresh: sum(projects, ({ waiting }) => waiting) + running.length };
    // One for each group that no worker has begun, and for each worker that runs tests without a browser.
    const without = new Set(running.map(({ slot }) => slot).filter((slot) => !served.has(slot))).size;
    const needed = without + sum(projects, ({ groups }) => groups);
    return this.#reuse === 'run' ? { used: needed, fresh: needed } : { used: 0, fresh: needed };
  }

  /**
   * Whether the worker that asks ahead will run another test that needs what it asks for. What is told of the test before
   * says nothing: the one that runs may be the worker's last.
   */
  goesOn({ slot, during }: Pick<Asked, 'slot' | 'during'>): boolean {
    // Where the worker names its test, its runner may say more of it yet; others never do.
    if (!this.#projects) return !this.#wasTold && (this.#reuse !== 'test' || during === undefined);
    const running = this.#projects.flatMap((each) => each.running);
    const own = running.find((each) => each.slot === slot.index && each.test === during);
    return (this.#reuse === 'test' ? own?.asks : own?.goesOn) ?? false;
  }
}

function sum<T>(all: readonly T[], of: (one: T) => number): number {
  return all.reduce((total, one) => total + of(one), 0);
}
