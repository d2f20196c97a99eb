import type { Runner } from '../../record/run-record.ts';
import { BrokerClient } from '../../worker/broker-client.ts';
import { UseRecords } from '../../worker/use-records.ts';
import { WorkerBrowser } from '../../worker/worker-browser.ts';
import { connectPuppeteer, type PuppeteerConnection } from '../connection.ts';
import { loadPuppeteer } from '../load-puppeteer.ts';
import { Scope } from './scope.ts';
import { type Surroundings, TestRun, type TestStart } from './test-run.ts';
import { PROJECT, runOfWorker } from './worker-settings.ts';

/** Which worker of its run a process is. */
export type WorkerPlace = Pick<Surroundings, 'parallelIndex' | 'workerIndex'>;

/** The hosted browser of one process that runs tests: leased when a test first asks for it, given back at its end. */
export class RunnerWorker {
  readonly #worker: WorkerBrowser<PuppeteerConnection>;
  readonly #where: Surroundings;
  /** Several where tests of one file run at once. */
  readonly #running = new Set<TestRun>();

  /** @throws OptionsError when no run was set up */
  constructor(runner: Exclude<Runner, 'playwright'>, place: WorkerPlace) {
    const { address, settings } = runOfWorker(runner);
    const { root, shard, reuse } = settings;
    const broker = new BrokerClient(address);
    this.#where = { ...place, root, shard, records: new UseRecords(), sink: broker };
    const link = { ...settings.link, identity: settings.link.identity };
    const onUnreached = (text: string) => {
      for (const test of this.#running) test.unreached(text);
    };
    this.#worker = new WorkerBrowser<PuppeteerConnection>({
      broker,
      connect: async (lease, events) => {
        const puppeteer = await loadPuppeteer();
        return await connectPuppeteer(lease, { ...link, ...events, puppeteer, connect: {}, onUnreached });
      },
      reuse,
      project: PROJECT,
      parallelIndex: place.parallelIndex,
      testTimeout: 0,
    });
    // Runners start another worker for the next file: what this one has goes to that.
    this.#worker.lastTestFailed = true;
  }

  /**
   * A context of a test, or one that several tests share.
   * @param timeout how long its browser must last, in ms; 0: not known
   * @param shares whether another one is open, whose browser must stay
   */
  openScope(timeout: number, shares = false): Scope {
    if (shares) this.#worker.beginSharing();
    else if (this.#running.size === 0) this.#worker.beginTest(timeout);
    return new Scope(this.#worker, timeout);
  }

  /** Leases a browser where there is none, for tests that will ask. @throws LeaseError, ServiceError */
  async ready(timeout: number): Promise<void> {
    await this.#worker.connected(timeout);
  }

  /** A test begins. Its end is told by {@link end}. */
  begin(test: TestStart, scope: Scope): TestRun {
    const run = new TestRun(test, scope, this.#where, this.#worker.present);
    this.#running.add(run);
    return run;
  }

  /** A test is over. Null when it used no hosted browser. */
  async end(run: TestRun, outcome: Parameters<TestRun['end']>[0]): ReturnType<TestRun['end']> {
    this.#running.delete(run);
    return await run.end(outcome);
  }

  /** Gives the browser back. Never rejects. */
  async close(): Promise<void> {
    await this.#worker.close().catch(() => undefined);
  }
}
