import type { BrowserType } from '@playwright/test';
import type { BrokerAddress } from '../broker/config.ts';
import type { LeasedBrowser, SessionReport } from '../broker/protocol.ts';
import { LeaseError } from '../errors.ts';
import type { ContextOption } from '../options/context-mode.ts';
import type { IdentityOption } from '../options/identity.ts';
import type { LeasePlan } from '../options/lease-plan.ts';
import { BrokerLine } from './broker-line.ts';
import { type BrowserLink, openLink } from './browser-link.ts';
import { neededFor, outlives, tooShort } from './lease-time.ts';
import type { RecordSink } from './recorder.ts';

/** Who asks for the browser. */
export interface HostedBrowserOptions {
  chromium: BrowserType;
  broker: BrokerAddress;
  plan: LeasePlan;
  metering: boolean;
  /** Rules for the hosts that pages reach through this machine; empty: none. */
  exposeNetwork: string;
  context: ContextOption;
  identity: IdentityOption | undefined;
  project: string;
  workerIndex: number;
  parallelIndex: number;
  /** The project's timeout of one test, in ms; 0: none. */
  testTimeout: number;
}

/** A browser that cannot be connected to is given back and another one taken, this often. */
const CONNECT_ATTEMPTS = 2;
/** How long a browser that is given back as healthy may take to prove it, in ms. */
const HEALTH_MS = 3_000;

const SHARES =
  "`reuse: 'test'` gives no fresh browser to a test that begins while a context is open, such as that of a page from `beforeAll`, or one that a test has not closed";

/**
 * One worker's hosted browser: the line to the broker, the lease it has now, and the link to it. When the next context
 * is asked for, a link that was lost, or whose browser will end before the test does, is replaced by one to a fresh
 * browser; of the latter it is known in time, so that the fresh one is fetched while the test before still runs.
 */
export class HostedBrowser {
  private link: BrowserLink | null = null;
  /** The browser of the next test, on its way. */
  private next: Promise<BrowserLink | null> | null = null;
  private used = false;
  /** Why the present browser must not serve the next context. */
  private stale: 'used' | 'ends-soon' | null = null;
  /** What the running test needs of a browser's life, in ms. */
  private needMs: number;
  /** Playwright replaces the worker after a failed test. */
  lastTestFailed = false;
  private readonly bandwidthUnknown = new Set<string>();
  private readonly broker: BrokerLine;

  private constructor(private readonly options: HostedBrowserOptions) {
    this.broker = new BrokerLine(options.broker);
    this.needMs = neededFor(options.testTimeout);
  }

  /** Connects to the broker and gets the first browser; bounded by the plan's `acquireTimeout`. */
  static async open(options: HostedBrowserOptions): Promise<HostedBrowser> {
    const hosted = new HostedBrowser(options);
    try {
      await hosted.connected();
    } catch (error) {
      hosted.broker.close();
      throw error;
    }
    return hosted;
  }

  /**
   * A test with this timeout (ms; 0: none) begins that shares no context with the one before it. With `reuse: 'test'`
   * it gets a browser that no other test has used; otherwise a fresh one when the present one would end too soon.
   */
  beginTest(timeout: number): void {
    this.needMs = neededFor(timeout);
    if (!this.link || this.link.lost()) return;
    if (this.options.plan.reuse === 'test' && this.used) this.stale = 'used';
    else if (this.used && tooShort(this.link.lease, this.needMs)) this.stale = 'ends-soon';
  }

  /** A test begins while a context from before it is open: it shares that one's browser, whatever `reuse` says. */
  beginSharing(): void {
    if (this.options.plan.reuse === 'test' && this.used) this.note(SHARES);
  }

  /** Null, or by how much the running test may outlive every browser, in words. */
  get warning(): string | null {
    const lease = this.link?.lease;
    if (!lease || this.needMs === 0 || !outlives(lease, this.needMs)) return null;
    const limit = lease.leaseId === null ? 'the `duration` of its session' : "the pool's `leaseTimeoutSeconds`";
    return `this test may run for ${seconds(this.needMs)} s (its timeout and a margin), but its hosted browser ends after ${seconds(lease.lifetimeMs)} s (${limit}): if it takes that long, it loses the browser. Lower the test's timeout or raise the limit.`;
  }

  /**
   * The link to use now: the present one while it is up and may be used, else one to a fresh browser.
   * @param testTimeout of the running test, in ms (0: none); null where no test runs yet
   */
  async connected(testTimeout: number | null = null): Promise<BrowserLink> {
    if (testTimeout !== null) this.needMs = neededFor(testTimeout);
    if (!this.link || this.stale !== null || this.link.lost() !== null) {
      await this.letGo(this.stale === 'ends-soon' ? 'rolled-over' : 'healthy');
      this.link = (await this.takeNext()) ?? (await this.lease());
      this.stale = null;
    }
    this.used = true;
    // The next test needs about what this one does; then it needs a fresh browser, and that takes a while to come.
    const { lease } = this.link;
    const endsSoon = !outlives(lease, this.needMs) && tooShort(lease, 2 * this.needMs);
    if (this.options.plan.reuse === 'test' || endsSoon) this.fetchNext();
    return this.link;
  }

  /** The link as it is, also a lost one; null before the first browser. */
  get present(): BrowserLink | null {
    return this.link;
  }

  /** Where tests' records go. */
  readonly sink: RecordSink = {
    bandwidthBytes: async (sessionId) => {
      // A service that has no figure while a session runs is asked once, not after every test.
      if (this.bandwidthUnknown.has(sessionId)) return null;
      const report = await this.report(sessionId);
      if (report?.bandwidthBytes == null) this.bandwidthUnknown.add(sessionId);
      return report?.bandwidthBytes ?? null;
    },
    sessionReport: (sessionId) => this.report(sessionId),
    testUsage: async (usage) => {
      await this.broker.ask((line) => line.testUsage(usage)).catch(() => undefined); // said where a browser is asked for
    },
  };

  /** Disconnects and gives the browser back: healthy, it may serve the worker that comes next. */
  async close(): Promise<void> {
    try {
      await this.letGo('healthy');
      this.link = await this.takeNext();
      await this.letGo('healthy');
    } finally {
      this.broker.close();
    }
  }

  /** Tells the terminal, once a project. */
  private note(text: string): void {
    const { project } = this.options;
    const said = project ? `project "${project}": ${text}` : text;
    this.broker.ask((line) => line.say(said)).catch(() => undefined);
  }

  private async report(sessionId: string): Promise<SessionReport | null> {
    return await this.broker.ask((line) => line.sessionReport(sessionId)).catch(() => null);
  }

  /** Gets the next test's browser while the present one runs. A failure shows when that test asks for itself. */
  private fetchNext(): void {
    this.next ??= this.lease().catch(() => null);
  }

  private async takeNext(): Promise<BrowserLink | null> {
    const next = this.next;
    this.next = null;
    return (await next) ?? null;
  }

  private async letGo(wanted: 'healthy' | 'rolled-over'): Promise<void> {
    const link = this.link;
    if (!link) return;
    this.link = null;
    // Only a browser that still answers is handed on.
    if (link.lost() === null && (await link.answers(HEALTH_MS))) {
      await link.close();
      await this.giveBack(link.lease, wanted);
      return;
    }
    // A goodbye to one that does not answer takes until the service has ended it.
    await this.giveBack(link.lease, 'lost');
    void link.close();
  }

  /** A broker that is gone has given it back already, or its successor has. */
  private async giveBack(
    { sessionId }: LeasedBrowser,
    condition: 'healthy' | 'rolled-over' | 'lost' | 'unreachable',
  ): Promise<void> {
    const toBeReplaced = condition === 'healthy' && this.lastTestFailed;
    await this.broker.ask((line) => line.giveBack({ sessionId, condition, toBeReplaced })).catch(() => undefined);
  }

  private async lease(): Promise<BrowserLink> {
    const { plan, project, workerIndex, parallelIndex, chromium } = this.options;
    const { metering, exposeNetwork, context, identity } = this.options;
    const onNote = (text: string) => this.note(text);
    for (let attempt = 1; ; attempt += 1) {
      const { needMs } = this;
      const lease = await this.broker.ask((line) => line.lease({ plan, project, workerIndex, parallelIndex, needMs }));
      try {
        // A browser that falls silent is ended at the service: that closes its link, and every call on it fails at once.
        const onSilent = () => void this.giveBack(lease, 'lost');
        return await openLink(chromium, lease, { metering, exposeNetwork, context, identity, onNote, onSilent });
      } catch (error) {
        await this.giveBack(lease, 'unreachable');
        if (attempt >= CONNECT_ATTEMPTS || !(error instanceof LeaseError)) throw error;
      }
    }
  }
}

function seconds(ms: number): number {
  return Math.round(ms / 1000);
}
