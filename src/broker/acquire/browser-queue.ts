import type { Clock } from '../../common/clock.ts';
import { planKey } from '../../options/lease-plan.ts';
import type { LeasePlan } from '../../options/schema/plan.ts';
import type { EndReason } from '../../record/enums.ts';
import type { HeldBrowser, Holder } from '../browsers/held-browser.ts';
import type { BrowserEnder } from '../leases/browser-ender.ts';
import type { BrowserOrders } from './browser-orders.ts';
import { PlanQueue, type QueueOptions, type Tests } from './plan-queue.ts';
import { RequestDeadline } from './request-deadline.ts';
import type { WaitNotices } from './wait-notices.ts';
import type { WorkerRequest } from './waiters.ts';

/**
 * How long a worker runs no test until it is asked for its browser, in ms, and how long it takes to give that back at
 * most: no other worker is asked meanwhile.
 */
const ASK_BACK_MS = 5_000;

export interface BrowserQueueOptions {
  orders: Pick<BrowserOrders, 'order'>;
  ender: Pick<BrowserEnder, 'end'>;
  notices: Pick<WaitNotices, 'add'>;
  /** Fires when the run leases no more browsers; every waiting request is rejected with its reason. */
  closing: AbortSignal;
  clock: Clock;
  /** See {@link QueueOptions}. */
  idleMs?: QueueOptions['idleMs'];
  /**
   * Whether a worker for which the service has no browser waits longer than `acquireTimeout`, while another one of the
   * run has one. Default: no.
   */
  outwaits?: boolean | undefined;
}

/**
 * The single queue for browsers. Every request waits here; its plan's `acquireTimeout` bounds the wait, and messages
 * explain it. Projects with interchangeable browsers and the same `reuse` share a {@link PlanQueue}.
 */
export class BrowserQueue {
  readonly #byKey = new Map<string, PlanQueue>();
  /** The same queues by plan, for a fast lookup: a run uses the same plan objects throughout. */
  readonly #byPlan = new WeakMap<LeasePlan, PlanQueue>();
  /** When a worker was last asked for its browser, in ms since the epoch. */
  #askedBackAt = 0;
  readonly #waiting = new Map<WorkerRequest, RequestDeadline>();
  readonly #options: BrowserQueueOptions;

  constructor(options: BrowserQueueOptions) {
    this.#options = options;
    const { closing } = options;
    closing.addEventListener('abort', () => {
      for (const queue of this.all) queue.refuseAll(closing.reason);
    });
  }

  get all(): PlanQueue[] {
    return [...this.#byKey.values()];
  }

  /** The workers that need a browser now. */
  get needed(): { index: number; since: number; waitsFor: string }[] {
    return [...this.#waiting].flatMap(([{ prefetch, slot }, { since, waitsFor }]) =>
      prefetch ? [] : { index: slot.index, since, waitsFor },
    );
  }

  /** Returns the queue of a plan and creates it on first use. */
  of(plan: LeasePlan): PlanQueue {
    const known = this.#byPlan.get(plan);
    if (known) return known;
    const key = `${planKey(plan)} ${plan.reuse}`;
    const queue = this.#byKey.get(key) ?? this.#make(plan);
    this.#byKey.set(key, queue);
    this.#byPlan.set(plan, queue);
    return queue;
  }

  /**
   * Returns a browser for a worker: an idle one of the same plan, or the next one that becomes available.
   * @throws LeaseError, ServiceError, OptionsError: no browser within `acquireTimeout`, or none can come
   */
  async take(request: WorkerRequest, plan: LeasePlan): Promise<HeldBrowser> {
    const queue = this.of(plan);
    const idle = queue.takeIdle(request);
    if (idle) return idle;
    const { notices, clock } = this.#options;
    const deadline = new RequestDeadline({
      slot: request.slot,
      acquireTimeout: plan.acquireTimeout,
      waitsFor: () => queue.waitsFor,
      explain: (signal) => queue.explain(signal),
      waitsOn: () => this.#options.outwaits === true && queue.starves && this.all.some(({ isLeasing }) => isLeasing),
      onLate: (late) => request.prefetch || notices.add(late),
      clock,
    });
    this.#waiting.set(request, deadline);
    try {
      return await queue.take(request, deadline.signal);
    } finally {
      this.#waiting.delete(request);
      deadline.stop();
    }
  }

  /** Cancels a worker's requests: all of them, or only its prefetches. */
  cancel(holder: Holder, which: 'all' | 'prefetch', reason: Error): void {
    for (const [request, deadline] of this.#waiting) {
      if (request.holder === holder && (which === 'all' || request.prefetch)) deadline.end(reason);
    }
  }

  /**
   * Sets the remaining tests of each project; null: unknown. Projects that a worker registers itself are not included.
   */
  expectTests(projects: readonly (Tests & { plan: LeasePlan })[] | null): void {
    const byQueue = new Map<PlanQueue, Tests>();
    for (const { plan, atOnce, running, followed } of projects ?? []) {
      const queue = this.of(plan);
      const before = byQueue.get(queue) ?? { atOnce: 0, running: [], followed: [] };
      byQueue.set(queue, {
        atOnce: before.atOnce + atOnce,
        running: [...before.running, ...running],
        followed: [...before.followed, ...followed],
      });
    }
    for (const queue of this.all) queue.expectTests(byQueue.get(queue) ?? null);
  }

  /**
   * Whether a worker that has run no test for `idleMs` should give its browser back: another worker waits for one, and
   * the service has none. One worker after the other is asked.
   */
  isWanted(idleMs: number): boolean {
    const now = this.#options.clock.now();
    const isDue = idleMs >= ASK_BACK_MS && now - this.#askedBackAt >= ASK_BACK_MS;
    if (!isDue || !this.all.some(({ starves }) => starves)) return false;
    this.#askedBackAt = now;
    return true;
  }

  /** Starts to end a browser. No worker gets it from now on. */
  end(held: HeldBrowser, reason: EndReason): void {
    this.of(held.plan).forget(held);
    this.#options.ender.end(held, reason);
  }

  #make(plan: LeasePlan): PlanQueue {
    const { orders, ender, clock, idleMs } = this.#options;
    const queue: PlanQueue = new PlanQueue(
      {
        order: (slot, priority, needMs) => orders.order(plan, slot, priority, needMs),
        end: (held, reason) => ender.end(held, reason),
        othersStarve: () => this.all.some((each) => each !== queue && each.starves),
      },
      { reuse: plan.reuse, clock, idleMs },
    );
    return queue;
  }
}
