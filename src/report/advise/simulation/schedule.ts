import type { Try } from '../past/model.ts';
import type { Gap } from '../past/samples.ts';

/** Simulates how Playwright runs one shard. Times are ms since the start of the run. */

/** Tests that a worker gets at once and runs in sequence. */
export interface Job {
  project: number;
  /** Projects of the same kind can use each other's browsers. */
  kind: number;
  tests: readonly JobTest[];
}

export interface JobTest {
  test: number;
  /** The tries to come, and how many are done. */
  tries: readonly Try[];
  done: number;
}

/** Times other than those of the tests. */
export interface Costs {
  /** From the start to a worker's first test, and from the end of the last test to the end of the run. */
  headMs: number;
  tailMs: number;
  /** How long a browser exists before its first worker receives it. It is kept until its last test ends. */
  prefetchMs: number;
  reuse: 'run' | 'worker' | 'test';
  /** Pause on a slot before this try. */
  gapMs(gap: Gap, test: number, retry: number): number;
  /** Wait for the run's `nth` browser; `first`: it is the first of its slot, prefetched while the worker starts. */
  waitMs(nth: number, first: boolean): number;
}

/** A scheduled try. */
export interface Step extends Try {
  slot: number;
  test: number;
  retry: number;
  /** When its worker began it. It waits for its browser first. */
  start: number;
  waitMs: number;
  end: number;
}

/** Result of the simulation. */
export interface Schedule {
  steps: Step[];
  wallMs: number;
  /** How long each browser existed. */
  browsers: number[];
}

interface Slot {
  index: number;
  /** Project of its worker; null: it has none, or one that will be replaced. */
  worker: number | null;
  browser: Browser | null;
  job: Job | null;
  freeAt: number;
  /** The rest of its job, for the next worker. */
  rest: Job | null;
  used: boolean;
}

interface Browser {
  kind: number;
  from: number;
  lastUse: number;
}

/**
 * Runs the jobs of each phase on worker slots. A free slot takes the first job of the queue, preferably a slot whose
 * worker belongs to the job's project. After a failed try, the worker is replaced, and the rest of the job, including
 * tests with further tries, returns to the front of the queue.
 */
export function schedule(phases: readonly (readonly Job[])[], slots: number, costs: Costs): Schedule {
  return new Simulation(slots, costs).run(phases);
}

class Simulation {
  readonly #slots: Slot[];
  readonly #browsers: Browser[] = [];
  readonly #steps: Step[] = [];
  /** Queued and running jobs of each project. Workers that none of them needs end. */
  readonly #due = new Map<number, number>();
  readonly #costs: Costs;

  constructor(slots: number, costs: Costs) {
    this.#costs = costs;
    this.#slots = Array.from({ length: slots }, (_, index) => ({
      index,
      worker: null,
      browser: null,
      job: null,
      freeAt: 0,
      rest: null,
      used: false,
    }));
  }

  run(phases: readonly (readonly Job[])[]): Schedule {
    let now = 0;
    for (const [n, jobs] of phases.entries()) {
      // Playwright ends all workers between two phases.
      for (const slot of this.#slots) slot.worker = null;
      now = this.#phase(jobs, now, n === 0);
    }
    const wallMs = Math.max(now, this.#costs.headMs) + this.#costs.tailMs;
    const browsers = this.#browsers.map(({ from, lastUse }) => lastUse - Math.max(0, from - this.#costs.prefetchMs));
    return { steps: this.#steps, wallMs, browsers };
  }

  /** @returns when its last test ends */
  #phase(jobs: readonly Job[], begin: number, first: boolean): number {
    const queue = jobs.toReversed();
    for (const { project } of jobs) this.#count(project, 1);
    let now = begin;
    for (;;) {
      for (let job = queue.at(-1); job; job = queue.at(-1)) {
        const slot = this.#freeSlot(job.project);
        if (!slot) break;
        queue.pop();
        slot.job = job;
        this.#start(slot, job, now, first && now === begin);
      }
      const next = this.#nextToEnd();
      if (!next) return now;
      now = next.freeAt;
      this.#end(next);
      if (!next.rest) continue;
      queue.push(next.rest);
      this.#count(next.rest.project, 1);
    }
  }

  #end(slot: Slot): void {
    const { job, worker } = slot;
    slot.job = null;
    if (!job) return;
    this.#count(job.project, -1);
    const workers = this.#slots.filter((each) => each.worker === job.project).length;
    if (worker !== null && workers > (this.#due.get(job.project) ?? 0)) slot.worker = null;
  }

  #count(project: number, by: number): void {
    this.#due.set(project, (this.#due.get(project) ?? 0) + by);
  }

  #freeSlot(project: number): Slot | null {
    let free: Slot | null = null;
    for (const slot of this.#slots) {
      if (slot.job) continue;
      if (slot.worker === project) return slot;
      free ??= slot;
    }
    return free;
  }

  #nextToEnd(): Slot | null {
    let next: Slot | null = null;
    for (const slot of this.#slots) if (slot.job && (!next || slot.freeAt < next.freeAt)) next = slot;
    return next;
  }

  #start(slot: Slot, job: Job, begin: number, atOnce: boolean): void {
    let now = begin;
    let ran = 0;
    for (const item of job.tests) {
      const gap = slot.worker !== job.project ? 'restart' : ran === 0 ? 'group' : 'test';
      ran += 1;
      const [first] = item.tries;
      if (!first) continue;
      now += gap === 'restart' && atOnce ? this.#costs.headMs : this.#costs.gapMs(gap, item.test, item.done);
      slot.worker = job.project;
      now = this.#try(slot, job.kind, item, first, now, gap === 'restart');
      if (first.failed) {
        slot.worker = null;
        break;
      }
    }
    slot.freeAt = now;
    slot.rest = restOf(job, ran);
    // A further try without a recorded failure follows a failure in a hook, or in a test without a browser.
    if (slot.rest) slot.worker = null;
  }

  /** Runs one try on a slot. @param isNew whether its worker is new @returns when it ends */
  #try(slot: Slot, kind: number, { test, done }: JobTest, given: Try, start: number, isNew: boolean): number {
    const { reuse } = this.#costs;
    if ((isNew && reuse !== 'run') || reuse === 'test') slot.browser = null;
    const waitMs = this.#takeBrowser(slot, kind, start);
    const end = start + waitMs + given.ms;
    this.#steps.push({ slot: slot.index, test, retry: done, start, waitMs, end, ...given });
    if (slot.browser) slot.browser.lastUse = end;
    return end;
  }

  /** Gives the slot a browser of this kind. @returns the wait in ms */
  #takeBrowser(slot: Slot, kind: number, now: number): number {
    const first = !slot.used;
    slot.used = true;
    if (slot.browser?.kind === kind) return 0;
    const idle = this.#costs.reuse === 'run' ? this.#slots.find((other) => isIdle(other, kind)) : undefined;
    if (idle) {
      slot.browser = idle.browser;
      if (idle !== slot) idle.browser = null;
      return 0;
    }
    const waitMs = this.#costs.waitMs(this.#browsers.length, first);
    slot.browser = { kind, from: now + waitMs, lastUse: now + waitMs };
    this.#browsers.push(slot.browser);
    return waitMs;
  }
}

function isIdle({ job, browser }: Slot, kind: number): boolean {
  return job === null && browser?.kind === kind;
}

/** The rest of a job of which `ran` tests ran once; null if nothing is left. */
function restOf({ project, kind, tests }: Job, ran: number): Job | null {
  const rest = tests.flatMap(({ test, tries, done }, n) => {
    if (n >= ran) return [{ test, tries, done }];
    return tries.length > 1 ? [{ test, tries: tries.slice(1), done: done + 1 }] : [];
  });
  return rest.length > 0 ? { project, kind, tests: rest } : null;
}
