import type { Clock, Timer } from '../../common/clock.ts';
import { LeaseError, OptionsError } from '../../errors.ts';
import type { RunRecorder } from '../../record/run-recorder.ts';
import type { BrowserQueue } from '../acquire/browser-queue.ts';
import {
  asMessage,
  type HeldBrowser,
  type HeldBrowsers,
  type Holder,
  isFresh,
  savesProfile,
  takeBackUnused,
} from '../browsers/held-browser.ts';
import type { SlotState } from '../feature.ts';
import type { SessionNotes } from '../leases/session-notes.ts';
import type {
  GiveBackParams,
  HostedProject,
  IdleParams,
  LeasedBrowser,
  LeaseParams,
  PrefetchParams,
  RemainingParams,
  RunState,
} from '../rpc/messages/protocol.ts';
import { PrefetchCancelled } from '../rpc/messages/refusals.ts';

/** How long a worker waits until the browser that it gave back has ended and its profile is saved, in ms. */
const SAVED_MS = 10_000;

export interface LeaseServiceOptions {
  /** Those of the run. */
  projects: readonly HostedProject[];
  browsers: HeldBrowsers;
  queue: BrowserQueue;
  notes: Pick<SessionNotes, 'writeIfMoved'>;
  recorder: Pick<RunRecorder, 'leaseFailed'>;
  /** Fires when the run leases no more browsers. */
  closing: AbortSignal;
  clock: Clock;
}

/**
 * Leases browsers to workers and takes them back. A returned browser goes to the next worker if it is as good as
 * before.
 */
export class LeaseService {
  readonly #projects: Projects;
  readonly #options: LeaseServiceOptions;

  constructor(options: LeaseServiceOptions) {
    this.#projects = new Projects(options.projects);
    this.#options = options;
  }

  /** Registers a project that only this worker has. */
  register(holder: Holder, project: HostedProject): void {
    this.#projects.register(holder, project);
  }

  /** Requests browsers for workers that Playwright is starting. */
  prefetch({ projects: ids }: PrefetchParams): void {
    const { queue, closing } = this.#options;
    if (closing.aborted) return;
    ids.forEach((id, index) => {
      const project = this.#projects.ofRun(id);
      if (project) queue.of(project.plan).announce({ project: project.name, index });
    });
  }

  /** Sets the remaining tests: idle browsers that they can use are kept, all others are ended; null: unknown. */
  remaining(reported: RemainingParams['projects'] | null): void {
    const { queue } = this.#options;
    const known = reported?.flatMap(({ project: id, ...tests }) => {
      const project = this.#projects.ofRun(id);
      return project ? { ...tests, plan: project.plan } : [];
    });
    queue.expectTests(known ?? null);
  }

  /**
   * Leases a browser to a worker.
   * @param gone fires when the worker's connection breaks
   * @throws LeaseError, ServiceError, OptionsError: no browser within `acquireTimeout`, or none can come
   */
  async lease(params: LeaseParams, holder: Holder, gone: AbortSignal): Promise<LeasedBrowser> {
    const { queue, notes, recorder, closing } = this.#options;
    const { parallelIndex: index, needMs, prefetch = false, during } = params;
    try {
      const { name: project, plan } = this.#projects.of(holder, params.project);
      for (const signal of [closing, gone]) signal.throwIfAborted();
      const takesUsed = plan.reuse === 'run';
      const held = await queue.take({ holder, slot: { project, index }, needMs, takesUsed, prefetch, during }, plan);
      notes.writeIfMoved(held);
      return asMessage(held);
    } catch (error) {
      if (!prefetch && !gone.aborted) recorder.leaseFailed(error);
      throw error;
    }
  }

  /** Cancels this worker's prefetches; a prefetch that already has its browser is not affected. */
  cancelPrefetch(holder: Holder): void {
    this.#options.queue.cancel(holder, 'prefetch', new PrefetchCancelled());
  }

  /**
   * A worker returns its browser; a healthy one goes to the next worker. A browser that saves its profile when it ends
   * is ended, and this method waits for the end: the next project may rely on the profile. Ignores a browser that this
   * worker does not hold.
   */
  async giveBack({ sessionId, condition, toBeReplaced, unused }: GiveBackParams, holder: Holder): Promise<void> {
    const { browsers, queue, closing } = this.#options;
    const held = browsers.get(sessionId);
    if (held?.state !== 'leased' || held.holder !== holder) return;
    if (condition !== 'healthy') {
      queue.end(held, condition === 'unreachable' ? 'connect-failed' : condition);
      return;
    }
    if (unused) takeBackUnused(held);
    const goesOn = (held.plan.reuse === 'run' || isFresh(held)) && !closing.aborted;
    if (goesOn && (toBeReplaced || !savesProfile(held))) return queue.of(held.plan).offer(held);
    queue.end(held, 'finished');
    if (savesProfile(held)) await this.#saved(held);
  }

  /** Whether a worker without a test should give its browser back, because another one waits for it. */
  isWanted({ idleMs }: IdleParams, holder: Holder): boolean {
    const { browsers, queue } = this.#options;
    return browsers.leasedBy(holder).length > 0 && queue.isWanted(idleMs);
  }

  /** A worker's connection broke: cancels its requests and ends the browsers it holds at once, without reuse. */
  holderGone(holder: Holder): void {
    const { browsers, queue } = this.#options;
    queue.cancel(holder, 'all', new LeaseError('ABORTED', 'The worker has gone.'));
    for (const held of browsers.leasedBy(holder)) queue.end(held, 'worker-died');
  }

  /** The current state of the browsers. */
  state(): Omit<RunState, 'said'> {
    const { browsers, queue } = this.#options;
    const { all } = browsers;
    const fromPool = all.filter(({ record }) => record.source === 'pool').length;
    const longest = queue.all.flatMap((each) => each.longest ?? []).sort((a, b) => b.waitedMs - a.waitedMs)[0];
    return {
      inUse: all.filter(({ state }) => state === 'leased').length,
      waiting: queue.all.reduce((sum, each) => sum + each.waiting, 0),
      ending: browsers.ending.length,
      fromPool,
      created: all.length - fromPool,
      longest: longest ?? null,
    };
  }

  /** The workers that have a browser, and those that wait for one. */
  slots(): SlotState[] {
    const { browsers, queue } = this.#options;
    const leased = browsers.held.filter(({ state }) => state === 'leased');
    return [
      // In this order: a slot that waits has no other browser that is of use to it.
      ...leased.map(({ slot, browser, record }) => ({
        slot: slot.index,
        sessionId: browser.sessionId,
        waitsFor: null,
        since: Date.parse(record.lentAt ?? record.startedAt),
      })),
      ...queue.needed.map(({ index, since, waitsFor }) => ({ slot: index, sessionId: null, waitsFor, since })),
    ];
  }

  async #saved(held: HeldBrowser): Promise<void> {
    let timer: Timer | undefined;
    const over = new Promise<void>((resolve) => {
      timer = this.#options.clock.after(SAVED_MS, resolve);
      timer.unref();
    });
    await Promise.race([held.ended, over]);
    timer?.cancel();
  }
}

/**
 * The requirements of each project on hosted browsers. The runner sets them once, before any worker asks. A worker
 * names its project. Only a worker whose tests override options registers a separate project, for its connection alone.
 */
export class Projects {
  readonly #run: ReadonlyMap<string, HostedProject>;
  readonly #registered = new WeakMap<Holder, HostedProject>();

  constructor(projects: readonly HostedProject[]) {
    this.#run = new Map(projects.map((project) => [project.id, project]));
  }

  /** Registers a worker's own project. For this worker, it overrides a project of the run with the same ID. */
  register(holder: Holder, project: HostedProject): void {
    this.#registered.set(holder, project);
  }

  /**
   * Returns the project with this ID, as this worker sees it.
   * @throws OptionsError for an unknown project
   */
  of(holder: Holder, id: string): HostedProject {
    const registered = this.#registered.get(holder);
    const found = registered?.id === id ? registered : this.#run.get(id);
    if (!found) throw unknownProject(id, [...this.#run.keys()]);
    return found;
  }

  /** Returns the run's project with this ID; null for one on local browsers. */
  ofRun(id: string): HostedProject | null {
    return this.#run.get(id) ?? null;
  }
}

function unknownProject(id: string, known: readonly string[]): OptionsError {
  const named = (each: string) => (each === '' ? 'the default project' : `"${each}"`);
  return new OptionsError(
    'projects',
    `The run has no project ${id === '' ? 'without a name' : named(id)} on hosted browsers: when it began there ${
      known.length === 1 ? 'was' : 'were'
    } ${known.map(named).join(', ') || 'none'}. The config gives other projects in a worker than in the runner; it must give the same ones in both, whatever a global setup changes in the environment.`,
  );
}
