import type { BrokerConnection } from '../broker/rpc/client.ts';
import type { GiveBackParams, LeasedBrowser } from '../broker/rpc/protocol.ts';
import { LeaseError } from '../errors.ts';
import type { LeasePlan } from '../options/lease-plan.ts';
import { Acquisition } from './acquisition.ts';
import { exceedsLifetime, lastsForNext, neededFor, silenceFor, tooShort } from './lease-time.ts';
import type { LeaseLink, LinkEvents } from './link/lease-link.ts';
import type { RecordSink } from './use-records.ts';

/** What a worker asks of its run's broker. */
export type WorkerBroker = Omit<
  BrokerConnection,
  'closed' | 'finish' | 'prefetch' | 'recorded' | 'remaining' | 'slot' | 'unref' | 'watch'
>;

/** Who asks for the browser, and of whom. */
export interface WorkerBrowserOptions<Link extends LeaseLink = LeaseLink> {
  broker: WorkerBroker;
  /** Connects to a leased browser. @throws LeaseError when that fails */
  connect(lease: LeasedBrowser, events: LinkEvents): Promise<Link>;
  /** All that a worker needs of its plan: the broker has the rest. */
  reuse: LeasePlan['reuse'];
  /** What the broker knows its plan by, and its name for what is said on the terminal. */
  project: { id: string; name: string };
  parallelIndex: number;
  /** The project's timeout of one test, in ms; 0: none. */
  testTimeout: number;
  /** The try of a test that runs now, see `testTry`; undefined between tests. */
  runningTry?(): string | undefined;
  /** Whether the browser is a script's, which may work without a pause for longer than a test. */
  forScript?: boolean;
}

/** A browser that cannot be connected to is given back and another one taken, this often. */
const CONNECT_ATTEMPTS = 2;
/** How long a browser that another worker will get may be silent when it is asked for a sign of life, in ms. */
const HEALTH_MS = 3_000;

const SHARES =
  "`reuse: 'test'` gives no fresh browser to a test that begins while a context is open, such as that of a page from `beforeAll`, or one that a test has not closed";

/**
 * One worker's hosted browser: the lease it has now, and the link to it. When the next context is asked for, a link that
 * was lost, or whose browser will end before the test does, is replaced by one to a fresh browser; of the latter it is
 * known in time, so that the fresh one is fetched while the test before still runs. Without it, a worker would have the
 * same browser for all its tests: a browser's end, or its loss, would fail every test that is still to come.
 */
export class WorkerBrowser<Link extends LeaseLink = LeaseLink> {
  #link: Link | null = null;
  /** The replacement of the link under way: whoever asks meanwhile gets what comes of it. */
  #changing: Promise<Link> | null = null;
  /** The browser that is waited for. */
  #acquiring: Acquisition<Link> | null = null;
  /** The browser of the next test, on its way or here. */
  #ahead: Acquisition<Link> | null = null;
  #closing: Promise<void> | null = null;
  /** Whether a context was opened on the present browser. */
  #used = false;
  /** Why the present browser must not serve the next context. */
  #stale: 'used' | 'ends-soon' | null = null;
  /** What the running test needs of a browser's life, in ms. */
  #needMs = 0;
  /** How many tests have begun that share no context with the one before. */
  #tests = 0;
  /** Playwright replaces the worker after a failed test. */
  lastTestFailed = false;
  readonly #broker: WorkerBroker;
  readonly #givenBack = new WeakSet<LeasedBrowser>();

  readonly #options: WorkerBrowserOptions<Link>;

  constructor(options: WorkerBrowserOptions<Link>) {
    this.#options = options;

    this.#broker = options.broker;
    this.#needs(options.testTimeout);
  }

  /**
   * Gets the first browser; bounded by the plan's `acquireTimeout`. To be called once; {@link connected} looks after it
   * from then on. Whatever comes of it, close afterwards.
   */
  start(): Promise<Link> {
    return this.#replaced();
  }

  /**
   * A test with this timeout (ms; 0: none) begins that shares no context with the one before it. With `reuse: 'test'`
   * it gets a browser that no other test has used; otherwise a fresh one when the present one would end too soon.
   */
  beginTest(timeout: number): void {
    this.#needs(timeout);
    this.#tests += 1;
    const link = this.#link;
    const used = this.#used;
    const needMs = this.#needMs;
    if (!link || link.lost()) return;
    if (used && this.#options.reuse === 'test') this.#stale = 'used';
    else if (used ? tooShort(link.lease, needMs) : !lastsForNext(link.lease, needMs)) this.#stale = 'ends-soon';
  }

  /** A test begins while a context from before it is open: it shares that one's browser, whatever `reuse` says. */
  beginSharing(): void {
    if (this.#options.reuse === 'test' && this.#used) this.#note(SHARES);
  }

  /** Null, or by how much the running test may outlive every browser, in words. */
  get warning(): string | null {
    const lease = this.#link?.lease;
    if (!lease || this.#needMs === 0 || !exceedsLifetime(lease, this.#needMs)) return null;
    const limit = lease.leaseId === null ? 'the `duration` of its session' : "the pool's `leaseTimeoutSeconds`";
    return `this test may run for ${seconds(this.#needMs)} s (its timeout and a margin), but its hosted browser ends after ${seconds(lease.lifetimeMs)} s (${limit}): if it takes that long, it loses the browser. Lower the test's timeout or raise the limit.`;
  }

  /**
   * The link for a context of the running test: the present one while it is up and may be used, else one to a fresh
   * browser. All who ask at once get the same one.
   * @param testTimeout of the running test, in ms (0: none); null where no test runs yet
   * @throws LeaseError `ABORTED` when the test is over before its browser has come, or this is closed
   */
  async connected(testTimeout: number | null = null): Promise<Link> {
    if (testTimeout !== null) this.#needs(testTimeout);
    const asking = this.#tests;
    const link = await this.#usable();
    if (this.#closing) throw isClosed();
    // What Playwright has given up would else open a context in the next test's browser.
    if (asking !== this.#tests)
      throw new LeaseError('ABORTED', 'The test was over before its hosted browser had come.');
    this.#used = true;
    // The next test needs about what this one does; then it needs a fresh browser, and that takes a while to come.
    const endsSoon = !exceedsLifetime(link.lease, this.#needMs) && tooShort(link.lease, 2 * this.#needMs);
    if (this.#options.reuse === 'test' || endsSoon) this.#ahead ??= this.#acquire(true);
    return link;
  }

  /** The link as it is, also a lost one; null before the first browser. */
  get present(): Link | null {
    return this.#link;
  }

  /** The next test's browser, on its way or here; null while none was asked for ahead. */
  get ahead(): Promise<Link> | null {
    return this.#ahead?.link ?? null;
  }

  /** Where tests' records go. */
  get sink(): RecordSink {
    return this.#broker;
  }

  /**
   * Disconnects and gives the browser back: healthy, it may serve the worker that comes next. Whoever waits for a
   * browser does so no longer.
   */
  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #end(): Promise<void> {
    const ahead = this.#ahead;
    const acquiring = this.#acquiring;
    const changing = this.#changing;
    this.#ahead = null;
    try {
      acquiring?.abandon();
      if (ahead) await this.#abandonAhead(ahead);
      // Both are over soon: what waits for the broker was abandoned, and connecting has a bound.
      const [, fetched] = await Promise.all([changing?.catch(() => null), ahead?.link.catch(() => null)]);
      const link = this.#link;
      this.#link = null;
      await Promise.all([link && this.#letGo(link), fetched && this.#letGoUnused(fetched)]);
    } finally {
      this.#broker.close();
    }
  }

  /** Tells the terminal, once a project. */
  #note(text: string): void {
    const { name } = this.#options.project;
    this.#broker.say(name ? `project "${name}": ${text}` : text).catch(() => undefined);
  }

  #needs(testTimeout: number): void {
    this.#needMs = neededFor(testTimeout);
    this.#broker.allowSilence(silenceFor(this.#options.forScript ? 0 : this.#needMs));
  }

  async #usable(): Promise<Link> {
    if (this.#closing) throw isClosed();
    const link = this.#link;
    if (!this.#changing && link && this.#stale === null && link.lost() === null) return link;
    return await this.#replaced();
  }

  /** The browser that comes instead of the present one. All who ask while it is on its way get the same one. */
  #replaced(): Promise<Link> {
    this.#changing ??= this.#change().finally(() => {
      this.#changing = null;
    });
    return this.#changing;
  }

  async #change(): Promise<Link> {
    const link = this.#link;
    const stale = this.#stale;
    this.#link = null;
    this.#stale = null;
    this.#used = false;
    if (link) await this.#letGo(link, stale === 'ends-soon' ? 'rolled-over' : 'healthy');
    this.#link = await this.#fresh();
    return this.#link;
  }

  /** The browser that was fetched ahead, if it has come and is as good as new; else one that is asked for now. */
  async #fresh(): Promise<Link> {
    const ahead = this.#ahead;
    this.#ahead = null;
    const fetched = ahead && !ahead.isAsking ? await ahead.link.catch(() => null) : null;
    if (fetched && fetched.lost() === null && lastsForNext(fetched.lease, this.#needMs)) return fetched;
    if (fetched) await this.#letGoUnused(fetched);
    if (this.#closing) throw isClosed();
    const acquiring = this.#acquire(false);
    this.#acquiring = acquiring;
    // In this order: what is on its way at the service for the one becomes the other's.
    if (ahead?.isAsking) void this.#abandonAhead(ahead);
    try {
      return await acquiring.link;
    } finally {
      this.#acquiring = null;
    }
  }

  #acquire(ahead: boolean): Acquisition<Link> {
    const broker = this.#broker;
    const { project, parallelIndex, connect, runningTry } = this.#options;
    const during = ahead ? runningTry?.() : undefined;
    const onNote = (text: string) => this.#note(text);
    const steps = {
      lease: () => broker.lease({ project: project.id, parallelIndex, needMs: this.#needMs, ahead, during }),
      // A browser that falls silent is ended at the service: that closes its link, and every call on it fails at once.
      open: (lease: LeasedBrowser) => connect(lease, { onNote, onSilent: () => void this.#giveBack(lease, 'lost') }),
      giveBack: this.#giveBack,
    };
    // One fetched ahead is asked for again when it is needed.
    return new Acquisition(steps, ahead ? 1 : CONNECT_ATTEMPTS);
  }

  /** Takes a request back that was made ahead, if the broker has it still. */
  async #abandonAhead(ahead: Acquisition<Link>): Promise<void> {
    const isAsking = ahead.isAsking;
    ahead.abandon();
    if (isAsking) await this.#broker.cancelAhead().catch(() => undefined);
  }

  /** One that was fetched ahead is as good as new for every worker, unless it is about to end. */
  async #letGoUnused(link: Link): Promise<void> {
    await this.#letGo(link, lastsForNext(link.lease, this.#needMs) ? 'healthy' : 'rolled-over', true);
  }

  async #letGo(link: Link, wanted: 'healthy' | 'rolled-over' = 'healthy', unused = false): Promise<void> {
    const isUp = link.lost() === null;
    const goesOn = isUp && wanted === 'healthy' && (unused || this.#options.reuse === 'run');
    const isHealthy = goesOn ? await link.answers(HEALTH_MS) : isUp;
    // To one that does not answer, a goodbye takes until the service has ended it.
    const disconnected = link.close();
    if (goesOn && isHealthy) await disconnected;
    await this.#giveBack(link.lease, isHealthy ? wanted : 'lost', unused);
  }

  /** Once a browser, whoever sees first that it must go. */
  readonly #giveBack = async (
    lease: LeasedBrowser,
    condition: GiveBackParams['condition'],
    unused = false,
  ): Promise<void> => {
    if (this.#givenBack.has(lease)) return;
    this.#givenBack.add(lease);
    const { sessionId } = lease;
    const toBeReplaced = condition === 'healthy' && this.lastTestFailed;
    // A broker that is gone has given it back already, or its successor has.
    await this.#broker.giveBack({ sessionId, condition, toBeReplaced, unused }).catch(() => undefined);
  };
}

function isClosed(): LeaseError {
  return new LeaseError('ABORTED', 'This worker has given its hosted browser back: it was closed, or the worker ends.');
}

function seconds(ms: number): number {
  return Math.round(ms / 1000);
}
