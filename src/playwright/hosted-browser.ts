import type { BrowserType } from '@playwright/test';
import { type BrokerConnection, connectToBroker } from '../broker/client.ts';
import type { BrokerAddress } from '../broker/config.ts';
import { LeaseError } from '../errors.ts';
import type { LeasePlan } from '../options/lease-plan.ts';
import { type BrowserLink, openLink } from './browser-link.ts';
import type { RecordSink } from './recorder.ts';

/** Who asks for the browser. */
export interface HostedBrowserOptions {
  chromium: BrowserType;
  broker: BrokerAddress;
  plan: LeasePlan;
  metering: boolean;
  project: string;
  workerIndex: number;
  parallelIndex: number;
}

/** A browser that cannot be connected to is given back and another one taken, this often. */
const CONNECT_ATTEMPTS = 2;

/**
 * One worker's hosted browser: the line to the broker, the lease it has now, and the link to it. A link that is lost
 * is replaced, with a fresh browser, when the next context is asked for.
 */
export class HostedBrowser {
  private link: BrowserLink | null = null;
  /** The browser of the next test, on its way (`reuse: 'test'`). */
  private next: Promise<BrowserLink | null> | null = null;
  private used = false;
  private stale = false;
  private readonly bandwidthUnknown = new Set<string>();

  private constructor(
    private readonly options: HostedBrowserOptions,
    private readonly broker: BrokerConnection,
  ) {}

  /** Connects to the broker and gets the first browser; bounded by the plan's `acquireTimeout`. */
  static async open(options: HostedBrowserOptions): Promise<HostedBrowser> {
    const broker = await connectToBroker(options.broker, 'worker');
    const hosted = new HostedBrowser(options, broker);
    try {
      await hosted.connected();
    } catch (error) {
      broker.close();
      throw error;
    }
    return hosted;
  }

  /**
   * A test begins that shares no context with the one before it. With `reuse: 'test'` it gets a browser that no other
   * test has used.
   */
  beginTest(): void {
    if (this.options.plan.reuse === 'test' && this.used) this.stale = true;
  }

  /** The link to use now: the present one while it is up and may be used, else one to a fresh browser. */
  async connected(): Promise<BrowserLink> {
    if (!this.link || this.stale || this.link.lost() !== null) {
      await this.letGo(this.link?.lost() === null);
      this.link = (await this.takeNext()) ?? (await this.lease());
      this.stale = false;
    }
    this.used = true;
    if (this.options.plan.reuse === 'test') this.fetchNext();
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
      const report = await this.broker.sessionReport(sessionId).catch(() => null);
      if (report?.bandwidthBytes == null) this.bandwidthUnknown.add(sessionId);
      return report?.bandwidthBytes ?? null;
    },
    testUsage: async (usage) => {
      await this.broker.testUsage(usage).catch(() => undefined); // a lost broker is said where a browser is asked for
    },
  };

  /** Disconnects and gives the browser back: healthy, it may serve the worker that comes next. */
  async close(): Promise<void> {
    try {
      await this.letGo(true);
      this.link = await this.takeNext();
      await this.letGo(true);
    } finally {
      this.broker.close();
    }
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

  private async letGo(wanted: boolean): Promise<void> {
    const link = this.link;
    if (!link) return;
    this.link = null;
    const healthy = wanted && link.lost() === null;
    await link.close();
    await this.broker.giveBack({ sessionId: link.lease.sessionId, healthy });
  }

  private async lease(): Promise<BrowserLink> {
    const { plan, project, workerIndex, parallelIndex, chromium, metering } = this.options;
    for (let attempt = 1; ; attempt += 1) {
      const lease = await this.broker.lease({ plan, project, workerIndex, parallelIndex });
      try {
        return await openLink(chromium, lease, { metering });
      } catch (error) {
        await this.broker.giveBack({ sessionId: lease.sessionId, healthy: false });
        if (attempt >= CONNECT_ATTEMPTS || !(error instanceof LeaseError)) throw error;
      }
    }
  }
}
