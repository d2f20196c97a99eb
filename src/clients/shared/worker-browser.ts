import type { BrokerClient } from '../../broker/rpc/client.ts';
import type { GiveBackParams, LeasedBrowser } from '../../broker/rpc/messages/protocol.ts';
import { type Clock, systemClock } from '../../common/clock.ts';
import { LeaseError } from '../../errors.ts';
import type { FeatureSettings } from '../../features/feature.ts';
import type { LeasePlan } from '../../options/schema/plan.ts';
import { Acquisition } from './acquisition.ts';
import type { ConnectionEvents, LeasedConnection } from './connection/leased-connection.ts';
import { IdleWorker } from './idle-worker.ts';
import {
  allowedSilence,
  endsTooSoon,
  exceedsLifetime,
  lastsForTest,
  lifetimeWarning,
  requiredLifetime,
} from './lease-time.ts';
import type { RecordSink } from './test-use.ts';
import { WorkerFeatures } from './worker-features.ts';

/** The worker that needs a browser, and the broker that provides it. */
export interface WorkerBrowserOptions<Connection extends LeasedConnection = LeasedConnection> {
  broker: BrokerClient;
  /** Settings of the features that are on. */
  features: FeatureSettings;
  /** Connects to a leased browser. @throws LeaseError on failure */
  connect(lease: LeasedBrowser, events: ConnectionEvents): Promise<Connection>;
  /** The only part of the plan that a worker needs. The broker has the rest. */
  reuse: LeasePlan['reuse'];
  /** ID of the plan at the broker, and the project's name for messages. */
  project: { id: string; name: string };
  parallelIndex: number;
  /** The project's test timeout in ms; 0: none. */
  testTimeout: number;
  /** Key of the running try, see `keyOf` in the record; undefined between tests. */
  runningTry?(): string | undefined;
  /** Whether a script leases the browser. A script may run without a pause for longer than a test. */
  forScript?: boolean;
  /** See {@link ConnectionEvents.onUnreachable}. */
  onUnreachable?(text: string): void;
  /** Whether contexts are open or opening, so that the browser must be kept between tests. Default: always. */
  isInUse?(connection: Connection): boolean;
  /** Default: the machine's clock. */
  clock?: Clock;
}

/** How often a browser is requested: one that cannot be connected to is given back and replaced. */
const CONNECT_ATTEMPTS = 2;
/** How long a browser may be silent while it is made ready for another worker, in ms: a busy one responds late. */
const HEALTH_MS = 10_000;

const SHARED_CONTEXT =
  "`reuse: 'test'`: this test gets no new browser, because a context is still open when it begins, such as one for a page from `beforeAll`, or one that an earlier test did not close";

/**
 * One worker's hosted browser: the current lease and the connection to it. When the next context is requested, it
 * replaces a connection that was lost, or whose browser will end before the test does. In the second case, a new
 * browser is prefetched while the previous test still runs. Without replacement, all remaining tests of a worker would
 * fail after its browser has ended.
 */
export class WorkerBrowser<Connection extends LeasedConnection = LeasedConnection> {
  #connection: Connection | null = null;
  /** The replacement in progress. Concurrent requests share it. */
  #replacing: Promise<Connection> | null = null;
  /** The browser that is awaited. */
  #acquiring: Acquisition<Connection> | null = null;
  /** The prefetched browser of the next test, ready or in progress. */
  #prefetched: Acquisition<Connection> | null = null;
  #closing: Promise<void> | null = null;
  /** Whether a context was opened on the current browser. */
  #used = false;
  /** Why the next context must not open on the current browser. */
  #stale: 'used' | 'ends-soon' | null = null;
  /** Browser lifetime that the running test needs, in ms. */
  #needMs = 0;
  /** How many tests have begun that share no context with the previous one. */
  #tests = 0;
  /** Playwright replaces the worker after a failed test. */
  lastTestFailed = false;
  /** Settles when every browser that was given up between tests is back at the broker. */
  #givingUp: Promise<unknown> = Promise.resolve();
  readonly #idle: IdleWorker;
  readonly #broker: BrokerClient;
  readonly #givenBack = new WeakSet<LeasedBrowser>();

  readonly #options: WorkerBrowserOptions<Connection>;
  /** Loaded with the first browser. */
  readonly features: WorkerFeatures;

  constructor(options: WorkerBrowserOptions<Connection>) {
    const { broker, parallelIndex: slot, isInUse = () => true, clock = systemClock } = options;
    this.#options = options;
    this.#broker = broker;
    this.features = new WorkerFeatures(options.features, { broker, slot, environment: process.env });
    this.#needs(options.testTimeout);
    const idle = {
      isInUse: () => this.#connection === null || isInUse(this.#connection),
      isWanted: (idleMs: number) => broker.isWanted({ idleMs }),
      giveUp: () => {
        this.#givingUp = Promise.all([this.#givingUp, this.#giveUp()]);
      },
    };
    this.#idle = new IdleWorker(idle, clock);
  }

  /**
   * Gets the first browser, within the plan's `acquireTimeout`. Call once; {@link connected} replaces the browser
   * later. Call {@link close} afterwards, even if this rejects.
   */
  start(): Promise<Connection> {
    return this.#replacement();
  }

  /**
   * A test with this timeout (ms; 0: none) begins and shares no context with the previous one. With `reuse: 'test'` it
   * gets a browser that no other test has used; otherwise a new one if the current browser would end too soon.
   */
  beginTest(timeout: number): void {
    this.#idle.end();
    this.#needs(timeout);
    this.#tests += 1;
    const connection = this.#connection;
    const used = this.#used;
    const needMs = this.#needMs;
    if (!connection || connection.lost()) return;
    if (used && this.#options.reuse === 'test') this.#stale = 'used';
    else if (used ? endsTooSoon(connection.lease, needMs) : !lastsForTest(connection.lease, needMs))
      this.#stale = 'ends-soon';
  }

  /** A test begins while an earlier context is open. It shares that context's browser, regardless of `reuse`. */
  beginSharing(): void {
    this.#idle.end();
    if (this.#options.reuse === 'test' && this.#used) this.#note(SHARED_CONTEXT);
  }

  /**
   * The test is over, and its contexts are closed. If no other one begins and other workers wait for a browser, this
   * worker gives its own up. {@link connected} then gets another one.
   * @param failed whether Playwright replaces the worker
   */
  endTest(failed: boolean): void {
    this.lastTestFailed = failed;
    if (!failed && !this.#closing) this.#idle.begin();
  }

  /**
   * The running test waits for another browser, and `wait` settles when it need not any more. If this one is not in use
   * and the other one does not come without it, this worker gives it up.
   */
  whileWaiting(wait: Promise<unknown>): void {
    this.#idle.whileWaiting(wait);
  }

  /** A message when the running test may take longer than any browser lasts; else null. */
  get warning(): string | null {
    return this.#connection && lifetimeWarning(this.#connection.lease, this.#needMs);
  }

  /**
   * Returns the connection for a context of the running test: the current one if it is usable, else one to a new
   * browser. Concurrent requests get the same one.
   * @param testTimeout of the running test, in ms (0: none); null if no test runs yet
   * @throws LeaseError `ABORTED` when the test ends before its browser is ready, or after {@link close}
   */
  async connected(testTimeout: number | null = null): Promise<Connection> {
    if (testTimeout !== null) this.#needs(testTimeout);
    const asking = this.#tests;
    const connection = await this.#usableConnection();
    this.#idle.restart();
    if (this.#closing) throw isClosed();
    // A request that Playwright has given up must not open a context in the next test's browser.
    if (asking !== this.#tests) throw new LeaseError('ABORTED', 'The test ended before its hosted browser was ready.');
    this.#used = true;
    // The next test will need about as much time as this one. If it needs a new browser, prefetch that now.
    const endsSoon =
      !exceedsLifetime(connection.lease, this.#needMs) && endsTooSoon(connection.lease, 2 * this.#needMs);
    if (this.#options.reuse === 'test' || endsSoon) this.#prefetched ??= this.#acquire(true);
    return connection;
  }

  /** The current connection, even if lost; null before the first browser. */
  get current(): Connection | null {
    return this.#connection;
  }

  /** The browser of the next test, on its way or here; null if there is none. */
  get prefetched(): Promise<Connection> | null {
    return this.#prefetched?.connection ?? null;
  }

  /** Receives the records of tests. */
  get sink(): RecordSink {
    return this.#broker;
  }

  /**
   * Disconnects and gives the browser back. If it is healthy, another worker may get it. Pending requests for a browser
   * reject.
   */
  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #end(): Promise<void> {
    this.#idle.end();
    try {
      this.#acquiring?.abandon();
      // Settles soon: requests to the broker were abandoned, and connecting has a time limit.
      const replaced = this.#replacing?.catch(() => null);
      await Promise.all([this.#givingUp, this.#giveUp(), replaced]);
      await this.#giveUp();
    } finally {
      this.#broker.close();
    }
  }

  /** Gives back the browser and the prefetched one. A test that begins meanwhile gets another browser. */
  async #giveUp(): Promise<void> {
    const connection = this.#takeConnection();
    const prefetched = this.#prefetched;
    this.#prefetched = null;
    await Promise.all([connection && this.#release(connection), prefetched && this.#giveUpPrefetch(prefetched)]);
  }

  async #giveUpPrefetch(prefetched: Acquisition<Connection>): Promise<void> {
    await this.#cancelPrefetch(prefetched);
    const fetched = await prefetched.connection.catch(() => null);
    if (fetched) await this.#releaseUnused(fetched);
  }

  /** Notifies the user, once per project. */
  #note(text: string): void {
    const { name } = this.#options.project;
    this.#broker.say({ text: name ? `project "${name}": ${text}` : text }).catch(() => undefined);
  }

  #needs(testTimeout: number): void {
    this.#needMs = requiredLifetime(testTimeout);
    this.#broker.allowSilence(allowedSilence(this.#options.forScript ? 0 : this.#needMs));
  }

  async #usableConnection(): Promise<Connection> {
    if (this.#closing) throw isClosed();
    const connection = this.#connection;
    if (!this.#replacing && connection && this.#stale === null && connection.lost() === null) return connection;
    return await this.#replacement();
  }

  /** Replaces the current browser. Concurrent requests share the replacement. */
  #replacement(): Promise<Connection> {
    this.#replacing ??= this.#replace().finally(() => {
      this.#replacing = null;
    });
    return this.#replacing;
  }

  async #replace(): Promise<Connection> {
    const stale = this.#stale;
    const connection = this.#takeConnection();
    if (connection) await this.#release(connection, stale === 'ends-soon' ? 'rolled-over' : 'healthy');
    this.#connection = await this.#nextConnection();
    return this.#connection;
  }

  /** The current connection, which the worker does not use any more. */
  #takeConnection(): Connection | null {
    const connection = this.#connection;
    this.#connection = null;
    this.#stale = null;
    this.#used = false;
    return connection;
  }

  /** Returns the prefetched browser if it is ready and lasts long enough, else requests one now. */
  async #nextConnection(): Promise<Connection> {
    const prefetched = this.#prefetched;
    this.#prefetched = null;
    const fetched = prefetched && !prefetched.isPending ? await prefetched.connection.catch(() => null) : null;
    if (fetched && fetched.lost() === null && lastsForTest(fetched.lease, this.#needMs)) return fetched;
    if (fetched) await this.#releaseUnused(fetched);
    if (this.#closing) throw isClosed();
    const acquiring = this.#acquire(false);
    this.#acquiring = acquiring;
    // In this order, because the broker hands the pending prefetch over to the new request.
    if (prefetched?.isPending) void this.#cancelPrefetch(prefetched);
    try {
      return await acquiring.connection;
    } finally {
      this.#acquiring = null;
    }
  }

  #acquire(prefetch: boolean): Acquisition<Connection> {
    const broker = this.#broker;
    const { project, parallelIndex, connect, runningTry, onUnreachable = () => undefined } = this.#options;
    const during = prefetch ? runningTry?.() : undefined;
    const steps = {
      lease: () => broker.lease({ project: project.id, parallelIndex, needMs: this.#needMs, prefetch, during }),
      open: async (lease: LeasedBrowser) => {
        const connecting = connect(lease, {
          onNote: (text) => this.#note(text),
          onUnreachable,
          // The service ends a silent browser. That closes its connection, so that every pending call fails at once.
          onSilent: () => void this.#giveBack(lease, 'lost'),
        });
        const [connection] = await Promise.all([connecting, this.features.load()]);
        this.features.opened(connection);
        return connection;
      },
      giveBack: this.#giveBack,
    };
    // A failed prefetch is not repeated, because the browser is requested again when needed.
    return new Acquisition(steps, prefetch ? 1 : CONNECT_ATTEMPTS);
  }

  /** Cancels a prefetch that is still pending at the broker. */
  async #cancelPrefetch(prefetched: Acquisition<Connection>): Promise<void> {
    const isPending = prefetched.isPending;
    prefetched.abandon();
    if (isPending) await this.#broker.cancelPrefetch().catch(() => undefined);
  }

  /** An unused browser is as good as new for other workers, unless it ends soon. */
  async #releaseUnused(connection: Connection): Promise<void> {
    await this.#release(connection, lastsForTest(connection.lease, this.#needMs) ? 'healthy' : 'rolled-over', true);
  }

  async #release(connection: Connection, wanted: 'healthy' | 'rolled-over' = 'healthy', unused = false): Promise<void> {
    const isOpen = connection.lost() === null;
    const livesOn = unused || this.#options.reuse === 'run' || connection.lease.runsAlready;
    const isReusable = isOpen && wanted === 'healthy' && livesOn;
    const fault = isReusable ? await connection.settle(HEALTH_MS) : null;
    if (fault !== null) this.#note(`session ${connection.lease.sessionId} ends here, without another test: ${fault}`);
    const isHealthy = isOpen && fault === null;
    // Disconnecting from a silent browser would block until the service has ended it.
    const disconnected = connection.close();
    if (isReusable && isHealthy) await disconnected;
    await this.#giveBack(connection.lease, isHealthy ? wanted : 'lost', unused);
  }

  /** Gives each browser back only once. */
  readonly #giveBack = async (
    lease: LeasedBrowser,
    condition: GiveBackParams['condition'],
    unused = false,
  ): Promise<void> => {
    if (this.#givenBack.has(lease)) return;
    this.#givenBack.add(lease);
    const { sessionId } = lease;
    const toBeReplaced = condition === 'healthy' && this.lastTestFailed;
    // If the broker is gone, the browser was given back by it or by its replacement.
    await this.#broker.giveBack({ sessionId, condition, toBeReplaced, unused }).catch(() => undefined);
  };
}

function isClosed(): LeaseError {
  return new LeaseError(
    'ABORTED',
    'This worker has given its hosted browser back, because it was closed or is ending.',
  );
}
