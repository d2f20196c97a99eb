import type { Clock } from '../../common/clock.ts';
import { errorMessage } from '../../common/error-message.ts';
import type { LeasePlan } from '../../options/lease-plan.ts';
import type { RunRecorder } from '../../record/run-recorder.ts';
import { asMessage, type HeldBrowser, type Holder } from '../browsers/held-browser.ts';
import type { SessionNotes } from '../browsers/session-notes.ts';
import type { LeasedBrowser, LeaseParams, PrefetchParams, RemainingParams } from '../rpc/protocol.ts';
import { AheadRequests } from './ahead-requests.ts';
import type { Projects } from './projects.ts';
import { RequestClock } from './request-clock.ts';
import type { Asked } from './supply/asked.ts';
import type { Supplies } from './supply/supplies.ts';
import type { Supply } from './supply/supply.ts';
import type { WaitNotices } from './wait-notices.ts';

/** What lending needs. */
export interface LenderOptions {
  projects: Projects;
  supplies: Supplies;
  notes: SessionNotes;
  notices: WaitNotices;
  recorder: Pick<RunRecorder, 'leaseFailed'>;
  /** Fires when no browser is lent any more. */
  closing: AbortSignal;
  clock: Clock;
}

/** Lends browsers to workers: each request is bounded, explained while it waits, and counted when it fails. */
export class Lender {
  readonly #ahead = new AheadRequests();

  readonly #options: LenderOptions;

  constructor(options: LenderOptions) {
    this.#options = options;
  }

  /** Fetches browsers for workers that Playwright is starting. */
  prefetch({ projects: ids }: PrefetchParams): void {
    const { projects, supplies, closing } = this.#options;
    if (closing.aborted) return;
    ids.forEach((id, index) => {
      const project = projects.ofRun(id);
      if (project) supplies.of(project.plan).prefetch({ project: project.name, index });
    });
  }

  /** Which tests are still to come: what is idle and of use to them is kept, and nothing else; null: it is not known. */
  remaining(told: RemainingParams['projects'] | null): void {
    const { projects, supplies } = this.#options;
    const known = told?.flatMap(({ project: id, ...outlook }) => {
      const project = projects.ofRun(id);
      return project ? { ...outlook, plan: project.plan } : [];
    });
    supplies.expectTests(known ?? null);
  }

  /**
   * The browser for a worker: an idle one of the same plan, or the next one that comes.
   * @param holderGone fires when the worker's connection breaks
   * @throws LeaseError, ServiceError, OptionsError: no browser within `acquireTimeout`, or none will come
   */
  async lease(params: LeaseParams, holder: Holder, holderGone: AbortSignal): Promise<LeasedBrowser> {
    const ahead = params.ahead ? this.#ahead.begin(holder) : null;
    try {
      return await this.#take(params, holder, ahead ? [holderGone, ahead.signal] : [holderGone]);
    } catch (error) {
      if (!ahead && !holderGone.aborted) this.#options.recorder.leaseFailed(errorMessage(error));
      throw error;
    } finally {
      ahead?.done();
    }
  }

  /** Ends this worker's requests for browsers that it does not need yet; one that has its browser is over already. */
  cancelAhead(holder: Holder): void {
    this.#ahead.cancel(holder);
  }

  async #take(params: LeaseParams, holder: Holder, unwanted: readonly AbortSignal[]): Promise<LeasedBrowser> {
    const { projects, supplies, notes, closing } = this.#options;
    const { parallelIndex: index, needMs, ahead = false, during } = params;
    const { name, plan } = projects.of(holder, params.project);
    const ends = [closing, ...unwanted];
    for (const signal of ends) signal.throwIfAborted();
    const supply = supplies.of(plan);
    const asked = { holder, slot: { project: name, index }, needMs, takesUsed: plan.reuse === 'run', ahead, during };
    const held = supply.takeIdle(asked) ?? (await this.#wait(supply, asked, plan, ends));
    notes.writeIfMoved(held);
    return asMessage(held);
  }

  async #wait(
    supply: Supply,
    asked: Asked,
    { acquireTimeout }: LeasePlan,
    ends: readonly AbortSignal[],
  ): Promise<HeldBrowser> {
    const { notices, clock } = this.#options;
    const request = new RequestClock({
      slot: asked.slot,
      acquireTimeout,
      ends,
      waitsFor: () => supply.waitsFor,
      explain: (signal) => supply.explain(signal),
      late: (late) => asked.ahead || notices.add(late),
      clock,
    });
    try {
      return await supply.take(asked, request.signal);
    } finally {
      request.stop();
    }
  }
}
