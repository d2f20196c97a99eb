import type { TestCase, TestResult } from '@playwright/test/reporter';
import type { BrokerClient } from '../../../../src/broker/rpc/client.ts';
import type { LeasedBrowser } from '../../../../src/broker/rpc/messages/protocol.ts';
import { PrefetchCancelled } from '../../../../src/broker/rpc/messages/refusals.ts';
import type { LeaseService } from '../../../../src/broker/server/lease-service.ts';
import type { LeasedConnection } from '../../../../src/clients/shared/connection/leased-connection.ts';
import { WorkerBrowser } from '../../../../src/clients/shared/worker-browser.ts';
import type { TestUsage } from '../../../../src/record/run-record.ts';
import { ATTACHMENT_NAME, keyOf } from '../../../../src/record/test-record.ts';
import type { FakeClock } from '../../../support/unit/broker/fake-clock.ts';
import type { GivenRun, GivenTest } from './given-run.ts';

const TEST_TIMEOUT = 30_000;

/** The run of a worker. */
export interface WorkersRun {
  /** Test attempts that requested a browser. */
  asked: number;
  /** Whether tests were stopped early. */
  interrupted: boolean;
  readonly stopped: boolean;
  readonly clock: FakeClock;
  readonly leases: LeaseService;
  readonly given: GivenRun;
  givenOf(test: TestCase): GivenTest;
  /** A short wait. */
  pause(): Promise<void>;
}

/** One worker process. */
export class Worker {
  /** Set while it ends. */
  stopped: Promise<void> | null = null;

  readonly hash: string;
  readonly #run: WorkersRun;
  readonly #index: number;
  #browser: WorkerBrowser | null = null;
  #try: string | undefined;
  #running: Promise<unknown> | null = null;

  constructor(run: WorkersRun, hash: string, index: number) {
    this.#run = run;
    this.hash = hash;
    this.#index = index;
  }

  get ends(): boolean {
    return this.stopped !== null;
  }

  async run(test: TestCase, retry: number): Promise<TestResult['status']> {
    const running = this.#test(test, retry);
    this.#running = running;
    return await running;
  }

  async stop(): Promise<void> {
    await this.#run.pause();
    if (this.#run.stopped) await this.#browser?.close();
    await this.#running?.catch(() => undefined);
    await this.#browser?.close();
    await this.#run.pause();
  }

  async #test(test: TestCase, retry: number): Promise<TestResult['status']> {
    const { opens, fails, ms, skips } = this.#run.givenOf(test);
    this.#try = keyOf({ id: test.id, retry });
    const browser = this.#browser;
    browser?.beginTest(TEST_TIMEOUT);
    await this.#run.pause();
    if (this.#run.stopped) return this.#interrupted();
    let sessionId: string | null = null;
    if (opens) {
      this.#run.asked += 1;
      try {
        if (!browser) {
          this.#browser = this.#newBrowser(test);
          await this.#browser.start();
        }
        sessionId = (await this.#browser?.connected(TEST_TIMEOUT))?.lease.sessionId ?? null;
      } catch (error) {
        if (!this.#run.stopped) throw error;
        return this.#interrupted();
      }
    }
    await this.#run.clock.sleep(ms);
    if (this.#run.stopped) return this.#interrupted();
    if (sessionId) test.annotations = [{ type: ATTACHMENT_NAME, description: sessionId }];
    this.#try = undefined;
    const status = retry < fails ? 'failed' : skips ? 'skipped' : 'passed';
    this.#browser?.endTest(status === 'failed');
    return status;
  }

  #interrupted(): 'interrupted' {
    this.#run.interrupted = true;
    return 'interrupted';
  }

  #newBrowser(test: TestCase): WorkerBrowser {
    const name = test.parent.project()?.name ?? '';
    return new WorkerBrowser({
      broker: new Line(this.#run).broker,
      features: {},
      connect: async (lease) => {
        await this.#run.pause();
        return this.#link(lease);
      },
      reuse: this.#run.given.reuse,
      project: { id: name, name },
      parallelIndex: this.#index,
      testTimeout: TEST_TIMEOUT,
      runningTry: () => this.#try,
      isInUse: () => false,
      clock: this.#run.clock,
    });
  }

  #link(lease: LeasedBrowser): LeasedConnection {
    const close = () => this.#run.pause();
    return {
      lease,
      lost: () => null,
      close,
      settle: () => close().then(() => null),
    } as unknown as LeasedConnection;
  }
}

/** A worker's connection: its messages arrive in order, and later. */
class Line {
  readonly #run: WorkersRun;
  readonly #holder = {};
  readonly #gone = new AbortController();
  #cancels = 0;
  #there: Promise<void> = Promise.resolve();
  #back: Promise<void> = Promise.resolve();

  constructor(run: WorkersRun) {
    this.#run = run;
  }

  readonly broker: BrokerClient = {
    ask: async () => undefined,
    allowSilence: () => undefined,
    lease: async (params) => {
      const before = this.#cancels;
      const leased = await this.#ask(() => this.#run.leases.lease(params, this.#holder, this.#gone.signal));
      if (!params.prefetch || this.#cancels === before) return leased;
      const { sessionId } = leased;
      await this.broker.giveBack({ sessionId, condition: 'healthy', toBeReplaced: false, unused: true });
      throw new PrefetchCancelled();
    },
    cancelPrefetch: () => {
      this.#cancels += 1;
      return this.#ask(async () => this.#run.leases.cancelPrefetch(this.#holder));
    },
    giveBack: (params) => this.#ask(() => this.#run.leases.giveBack(params, this.#holder)),
    isWanted: (params) => this.#ask(async () => this.#run.leases.isWanted(params, this.#holder)),
    testUsage: async (_: TestUsage) => undefined,
    sessionReport: async () => ({ status: null, stoppedAt: null, bandwidthBytes: null }),
    redact: async ({ texts }) => texts,
    say: async () => undefined,
    close: () => {
      void this.#ask(async () => {
        this.#gone.abort();
        this.#run.leases.holderGone(this.#holder);
      });
    },
  };

  async #ask<T>(request: () => Promise<T>): Promise<T> {
    const before = this.#there;
    const mine = this.#run.pause();
    this.#there = Promise.all([before, mine]).then(() => undefined);
    await this.#there;
    try {
      return await request();
    } finally {
      const earlier = this.#back;
      const own = this.#run.pause();
      this.#back = Promise.all([earlier, own]).then(() => undefined);
      await this.#back;
    }
  }
}
