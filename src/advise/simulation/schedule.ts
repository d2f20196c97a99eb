import type { Try } from '../past/model.ts';
import type { Gap } from '../past/samples.ts';

/** A run of one shard, simulated as Playwright runs it. Times are ms since the run's beginning. */

/** What a worker is given: tests that it runs one after the other. */
export interface Job {
  project: number;
  /** Projects with the same one use each other's browsers. */
  kind: number;
  tests: readonly JobTest[];
}

export interface JobTest {
  test: number;
  /** Those that are still to come, and how many were before. */
  tries: readonly Try[];
  done: number;
}

/** What takes time beside the tests. */
export interface Costs {
  /** From the beginning to a worker's first test, and from the last test's end to the run's. */
  headMs: number;
  tailMs: number;
  /** How long a browser is there before its first worker has it. It stays until its last test is over. */
  aheadMs: number;
  reuse: 'run' | 'worker' | 'test';
  /** What passes on a slot before this try. */
  gapMs(gap: Gap, test: number, retry: number): number;
  /** What a worker waits for the run's `nth` browser; `first`: it is its slot's first, fetched while the worker starts. */
  waitMs(nth: number, first: boolean): number;
}

/** A try in its place. */
export interface Step extends Try {
  slot: number;
  test: number;
  retry: number;
  /** When its worker began it; it waits for its browser, and then takes its own time. */
  start: number;
  waitMs: number;
  end: number;
}

/** What the simulation comes to. */
export interface Schedule {
  steps: Step[];
  wallMs: number;
  /** How long each browser was there. */
  browsers: number[];
}

interface Slot {
  index: number;
  /** Project of its worker; null: it has none, or one that is to be replaced. */
  worker: number | null;
  browser: Browser | null;
  job: Job | null;
  freeAt: number;
  /** What its job left for the next worker. */
  rest: Job | null;
  used: boolean;
}

interface Browser {
  kind: number;
  from: number;
  lastUse: number;
}

/**
 * Runs the jobs of each phase on so many worker slots: a free slot takes the first job of the queue, one whose worker is
 * of the job's project before any other; after a failed try the worker is replaced, and the rest of the job, the tests
 * with further tries among it, is the first of the queue again.
 */
export function schedule(phases: readonly (readonly Job[])[], slots: number, costs: Costs): Schedule {
  return new Simulation(slots, costs).run(phases);
}

class Simulation {
  readonly #slots: Slot[];
  readonly #browsers: Browser[] = [];
  readonly #steps: Step[] = [];
  /** Jobs of each project that are queued or run: a worker that none of them needs ends. */
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
    const browsers = this.#browsers.map(({ from, lastUse }) => lastUse - Math.max(0, from - this.#costs.aheadMs));
    return { steps: this.#steps, wallMs, browsers };
  }

  /** @returns when its last test is over */
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
    // A try that follows no failure on record follows one in a hook, or in a test without a browser.
    if (slot.rest) slot.worker = null;
  }

  /** One try of a test on a slot. @param isNew whether its worker is new @returns when it is over */
  #try(slot: Slot, kind: number, { test, done }: JobTest, given: Try, start: number, isNew: boolean): number {
    const { reuse } = this.#costs;
    if ((isNew && reuse !== 'run') || reuse === 'test') slot.browser = null;
    const waitMs = this.#takeBrowser(slot, kind, start);
    const end = start + waitMs + given.ms;
    this.#steps.push({ slot: slot.index, test, retry: done, start, waitMs, end, ...given });
    if (slot.browser) slot.browser.lastUse = end;
    return end;
  }

  /** Gives the slot a browser of this kind. @returns what it waits, in ms */
  #takeBrowser(slot: Slot, kind: number, now: number): number {
    const first = !slot.used;
    slot.used = true;
    if (slot.browser?.kind === kind) return 0;
    const idle = this.#costs.reuse === 'run' ? this.#slots.find((other) => canLend(other, kind)) : undefined;
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

function canLend({ job, browser }: Slot, kind: number): boolean {
  return job === null && browser?.kind === kind;
}

/** What is left of a job of which so many tests ran once; null: nothing. */
function restOf({ project, kind, tests }: Job, ran: number): Job | null {
  const rest = tests.flatMap(({ test, tries, done }, n) => {
    if (n >= ran) return [{ test, tries, done }];
    return tries.length > 1 ? [{ test, tries: tries.slice(1), done: done + 1 }] : [];
  });
  return rest.length > 0 ? { project, kind, tests: rest } : null;
}
