import { brokerClient } from '../../broker/rpc/client.ts';
import { connectPuppeteer, loadPuppeteer, type PuppeteerConnection } from '../../clients/puppeteer/connection.ts';
import { WorkerBrowser } from '../../clients/shared/worker-browser.ts';
import { Scope } from './scope.ts';
import { TestRun, type TestStart, type WorkerContext } from './test-run.ts';
import { PROJECT, type RunnerSetup, runOfWorker } from './worker-settings.ts';

/** Identifies a worker of a run. */
export type WorkerIndexes = Pick<WorkerContext, 'parallelIndex' | 'workerIndex'>;

/** The hosted browser of one process that runs tests. Leased on first use, given back when the process ends. */
export class RunnerWorker {
  readonly #worker: WorkerBrowser<PuppeteerConnection>;
  readonly #where: WorkerContext;
  /** Several when tests of one file run concurrently. */
  readonly #running = new Set<TestRun>();

  /** @throws OptionsError when no run was set up */
  constructor(runner: RunnerSetup, place: WorkerIndexes) {
    const { address, settings } = runOfWorker(runner);
    const { root, shard, directory } = settings;
    const connection = { ...settings.connection, identity: settings.connection.identity };
    const hosted = new WorkerBrowser<PuppeteerConnection>({
      broker: brokerClient(address),
      connect: async (lease, events) => {
        const puppeteer = await loadPuppeteer();
        return await connectPuppeteer(lease, { ...connection, ...events, puppeteer, connect: {} });
      },
      features: settings.features,
      reuse: connection.reuse,
      project: PROJECT,
      parallelIndex: place.parallelIndex,
      testTimeout: 0,
      onUnreachable: (text) => {
        for (const test of this.#running) test.addUnreachable(text);
      },
    });
    this.#worker = hosted;
    this.#where = { ...place, root, directory, shard, sink: hosted.sink, features: hosted.features };
    // Runners start a new worker for the next file, which can take over this worker's browser.
    hosted.lastTestFailed = true;
  }

  /**
   * Prepares a context for a test, or one that several tests share.
   * @param timeout how long its browser must last, in ms; 0: unknown
   * @param shares whether another context is open, whose browser must be kept
   */
  openScope(timeout: number, shares = false): Scope {
    if (shares) this.#worker.beginSharing();
    else if (this.#running.size === 0) this.#worker.beginTest(timeout);
    return new Scope(this.#worker, timeout);
  }

  /** Leases a browser if there is none, before a test needs it. @throws LeaseError, ServiceError */
  async prepare(timeout: number): Promise<void> {
    await this.#worker.connected(timeout);
  }

  /**
   * A test begins. Call {@link end} when it is over.
   * @param staysOpen whether other tests use the scope, too: its owner closes it then
   */
  begin(test: TestStart, scope: Scope, staysOpen = false): TestRun {
    const others = () => [...this.#running].flatMap((other) => (other === run ? [] : (other.context ?? [])));
    const run: TestRun = new TestRun(test, { scope, staysOpen, others }, this.#where, this.#worker.current);
    this.#running.add(run);
    return run;
  }

  /** See `HostedSession.hold`, outside of tests. */
  async hold(connection: PuppeteerConnection, reason: string): Promise<void> {
    await this.#where.features.hold(connection, reason, null);
  }

  /** A test is over, and its context is closed. Null when it used no hosted browser. */
  async end(run: TestRun, outcome: Parameters<TestRun['end']>[0]): ReturnType<TestRun['end']> {
    await run.finish(outcome);
    this.#running.delete(run);
    return await run.end(outcome);
  }

  /** Gives the browser back. Never rejects. */
  async close(): Promise<void> {
    await this.#worker.close().catch(() => undefined);
  }
}
