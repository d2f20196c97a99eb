import type { FullConfig, FullProject, Suite, TestCase, TestResult } from '@playwright/test/reporter';
import type { LeaseService } from '../../../../src/broker/server/lease-service.ts';
import { firstWorkers, RemainingTests } from '../../../../src/report/remaining-tests.ts';
import type { FakeClock } from '../../../support/unit/broker/fake-clock.ts';
import type { GivenFile, GivenRun, GivenTest } from './given-run.ts';
import { Worker } from './simulated-worker.ts';

/**
 * Playwright as poolwright sees it: which worker runs which tests when, the reports to its reporters, and workers that
 * request browsers. Reporter, workers and broker are the real code; their messages take time.
 */

interface Job {
  hash: string;
  isSerial: boolean;
  tests: TestCase[];
}

interface Slot {
  /** What its worker runs, or will run once it has started. */
  job: Job | null;
  worker: Worker | null;
}

export class SimulatedRun {
  /** Test attempts that requested a browser. */
  asked = 0;
  /** Failed attempts. */
  failed = 0;
  /** Whether tests were stopped early. */
  interrupted = false;
  stopped = false;
  readonly clock: FakeClock;
  readonly leases: LeaseService;
  readonly given: GivenRun;

  /** The last started attempt of each test. */
  readonly #tries = new Map<string, number>();
  readonly #remaining: RemainingTests;
  readonly #of = new Map<string, GivenTest>();
  readonly #queues: Job[][] = [[], []];
  readonly #slots: Slot[];
  readonly #stopping = new Set<Promise<void>>();
  #queue: Job[] = [];
  #failures = 0;
  #failedProject = false;
  #delay = 0;
  #told = '';
  #telling = false;
  #first: readonly string[];
  #finished: () => void = () => undefined;

  constructor(given: GivenRun, leases: LeaseService, clock: FakeClock) {
    this.given = given;
    this.leases = leases;
    this.clock = clock;
    this.#slots = Array.from({ length: given.workers }, () => ({ job: null, worker: null }));
    const projects = [0, 1].map(
      (n) => ({ name: `p${n}`, dependencies: n === 0 ? [] : ['p0'] }) as unknown as FullProject,
    );
    const suites = projects.map((project, n) => {
      const files = given.files.flatMap((file, at) => (file.project === n ? [this.#file(file, at, project)] : []));
      return { project: () => project, suites: files } as unknown as Suite;
    });
    const { fullyParallel, workers } = given;
    const config = { projects, fullyParallel, workers } as FullConfig;
    const suite = { suites } as unknown as Suite;
    this.#remaining = new RemainingTests(config, suite);
    this.#first = firstWorkers(config, suite);
  }

  /** From the first test to the end of the last worker. */
  async run(): Promise<void> {
    this.#tell();
    for (const queue of this.#queues) {
      if (this.stopped || this.#failedProject || queue.length === 0) continue;
      this.#queue = [...queue];
      const over = new Promise<void>((resolve) => {
        this.#finished = resolve;
      });
      for (const _ of this.#slots) void this.#schedule();
      await over;
    }
    for (const slot of this.#slots) this.#stop(slot);
    await Promise.all(this.#stopping);
  }

  /** A short wait. */
  pause(): Promise<void> {
    const { delays } = this.given;
    return this.clock.sleep(delays[this.#delay++ % delays.length] ?? 1);
  }

  givenOf(test: TestCase): GivenTest {
    return this.#of.get(test.id) as GivenTest;
  }

  #file(file: GivenFile, at: number, project: FullProject): Suite {
    const isParallel = file.mode === 'parallel' || (file.mode === 'default' && this.given.fullyParallel);
    const all: TestCase[] = [];
    for (let repeat = 0; repeat < file.repeats; repeat += 1) {
      const tests = file.tests.map((given, n) => {
        const id = `${at}.${repeat}.${n}`;
        this.#of.set(id, given);
        const parent = { project: () => project };
        const { retries } = this.given;
        const test = { id, retries, repeatEachIndex: repeat, expectedStatus: 'passed', annotations: [], parent };
        return test as unknown as TestCase;
      });
      all.push(...tests);
      const job = { hash: `${file.project} ${repeat}`, isSerial: file.mode === 'serial' };
      const groups = isParallel ? tests.map((test) => [test]) : [tests];
      this.#queues[file.project]?.push(...groups.map((group) => ({ ...job, tests: group })));
    }
    return { allTests: () => all } as unknown as Suite;
  }

  async #schedule(): Promise<void> {
    const [job] = this.#queue;
    if (this.stopped || !job) return;
    const same = this.#slots.findIndex((slot) => !slot.job && slot.worker?.hash === job.hash && !slot.worker.ends);
    const index = same >= 0 ? same : this.#slots.findIndex((slot) => !slot.job);
    const slot = this.#slots[index];
    if (!slot) return;
    this.#queue.shift();
    slot.job = job;
    await this.#runJob(slot, index, job);
    slot.job = null;
    const isOver = this.#queue.length === 0 || this.stopped;
    if (isOver && this.#slots.every((slot) => !slot.job)) this.#finished();
    void this.#schedule();
  }

  async #runJob(slot: Slot, index: number, job: Job): Promise<void> {
    const worker = await this.#workerFor(slot, index, job);
    if (!worker) return;
    const left = [...job.tests];
    for (let test = left.shift(); test; test = left.shift()) {
      const retry = (this.#tries.get(test.id) ?? -1) + 1;
      this.#tries.set(test.id, retry);
      const result = { parallelIndex: index, retry, status: 'passed' } as TestResult;
      // The runner learns of its start while it runs.
      const begins = this.pause().then(() => {
        this.#remaining.began(test, result);
        this.#tell();
      });
      const runs = worker.run(test, retry);
      await begins;
      result.status = await runs;
      await this.pause();
      const hasFailed = result.status !== 'passed' && result.status !== 'skipped';
      if (result.status === 'skipped') test.expectedStatus = 'skipped';
      if (this.stopped) result.status = 'interrupted';
      else if (hasFailed) this.failed += 1; // also the one that stops the run: its browser may already be replaced
      const isOver = hasFailed && retry >= test.retries;
      this.#remaining.ended(test, result);
      this.#tell();
      if (isOver) this.#failed(test);
      if (this.stopped) return;
      if (!hasFailed) continue;
      void this.#stop(slot);
      this.#again(job, test, left, isOver);
      return;
    }
    // A job whose worker has not started yet counts, too: its browser may then be held by a worker without a test.
    const workers = this.#slots.filter(({ worker }) => worker?.hash === job.hash && !worker.ends);
    const running = this.#slots.filter((each) => each !== slot && each.job?.hash === job.hash);
    const queued = this.#queue.filter(({ hash }) => hash === job.hash);
    if (workers.length > running.length + queued.length) void this.#stop(slot);
  }

  /** Returns the current worker or a new one; null: the run has ended meanwhile. */
  async #workerFor(slot: Slot, index: number, { hash }: Job): Promise<Worker | null> {
    if (slot.worker && (slot.worker.hash !== hash || slot.worker.ends)) await this.#stop(slot);
    if (this.stopped || slot.worker) return this.stopped ? null : slot.worker;
    slot.worker = new Worker(this, hash, index);
    await this.pause();
    await this.pause();
    return this.stopped ? null : slot.worker;
  }

  /** Decides about the rest of a group after a failed test. */
  #again(job: Job, failed: TestCase, left: TestCase[], isOver: boolean): void {
    let tests = isOver ? left : [...left, failed];
    if (job.isSerial) {
      // All of them or none.
      for (const each of isOver ? left : []) {
        const passedOver = { parallelIndex: -1, retry: 0, status: 'skipped' } as TestResult;
        this.#remaining.began(each, passedOver);
        this.#remaining.ended(each, passedOver);
      }
      tests = isOver ? [] : job.tests;
      this.#tell();
    }
    if (tests.length > 0) this.#queue.unshift({ ...job, tests });
  }

  #failed(test: TestCase): void {
    this.#failures += 1;
    if (test.parent.project()?.name === 'p0') this.#failedProject = true;
    const { maxFailures } = this.given;
    if (maxFailures === 0 || this.#failures < maxFailures || this.stopped) return;
    this.stopped = true;
    for (const slot of this.#slots) void this.#stop(slot);
  }

  async #stop(slot: Slot): Promise<void> {
    const { worker } = slot;
    if (!worker) return;
    worker.stopped ??= worker.stop();
    this.#stopping.add(worker.stopped);
    await worker.stopped;
    if (slot.worker === worker) slot.worker = null;
  }

  /** Like the reporter's connection to the broker. */
  #tell(): void {
    if (this.#telling) return;
    this.#telling = true;
    void this.#send();
  }

  async #send(): Promise<void> {
    await this.clock.sleep(0);
    const projects = this.#remaining.state;
    this.#told = JSON.stringify(projects);
    await this.pause();
    this.leases.remaining(projects);
    if (this.#first.length > 0) this.leases.prefetch({ projects: [...this.#first] });
    this.#first = [];
    await this.pause();
    this.#telling = false;
    if (JSON.stringify(this.#remaining.state) !== this.#told) this.#tell();
  }
}
