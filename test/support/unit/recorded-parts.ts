import type { TestInfo } from '@playwright/test';
import type { LeasedBrowser, SessionReport } from '../../../src/broker/rpc/messages/protocol.ts';
import type { Traffic } from '../../../src/cdp/network/send/proxied-traffic.ts';
import { Screencast } from '../../../src/cdp/screencast/screencast.ts';
import type { RecordedConnection } from '../../../src/clients/shared/connection/leased-connection.ts';
import type { Loss } from '../../../src/clients/shared/connection/loss.ts';
import type { RecordSink } from '../../../src/clients/shared/test-use.ts';
import type { HostedBrowserAttachment } from '../../../src/record/attachment.ts';
import type { TestUsage } from '../../../src/record/run-record.ts';

/** Tests, browsers and a broker as a worker's recorder sees them. */

/** A test that keeps its attachments. */
export interface RecordedTest extends TestInfo {
  duration: number;
  readonly attached: HostedBrowserAttachment[];
}

export function aTestInfo(given: Partial<TestInfo> = {}): RecordedTest {
  const attached: HostedBrowserAttachment[] = [];
  return {
    testId: 'test-1',
    title: 'a test',
    titlePath: ['a.spec.ts', 'group', 'a test'],
    file: '/root/tests/a.spec.ts',
    line: 3,
    config: { rootDir: '/root', shard: { current: 1, total: 2 } },
    project: { name: 'us' },
    workerIndex: 7,
    parallelIndex: 1,
    retry: 0,
    status: 'passed',
    expectedStatus: 'passed',
    timeout: 30_000,
    duration: 12,
    errors: [],
    annotations: [],
    attached,
    attach: async (_name: string, { body }: { body?: string | Buffer } = {}) => {
      attached.push(JSON.parse(String(body)));
    },
    ...given,
    ...(given.errors && { errors: [...given.errors] }),
  } as unknown as RecordedTest;
}

/** The error of a failed test. */
export const FAILED: Partial<TestInfo> = { status: 'failed', errors: [{ message: 'expected 1' }] };

/** A connected browser whose bytes and commands are set by the test. */
export class FakeConnection implements RecordedConnection {
  readonly lease: LeasedBrowser;
  bytes: number | null = 0;
  proxied: Traffic = { sent: 0, received: 0 };
  readonly browser = {};
  readonly screencast = new Screencast();
  readonly closed = new Promise<never>(() => undefined);
  saved = 0;
  origins: string[] = [];
  sent = 0;
  loss: Loss | null = null;

  constructor(sessionId: string, given: Partial<LeasedBrowser> = {}) {
    const expiresAt = '2030-01-01T01:00:00.000Z';
    this.lease = {
      sessionId,
      leaseId: null,
      poolId: null,
      servedBy: null,
      reused: false,
      expiresAt,
      ...given,
    } as LeasedBrowser;
  }

  /** Its pages work for a test. */
  works(bytes: number): void {
    this.sent += 1;
    this.loads(bytes);
  }

  /** Its pages load something by themselves. */
  loads(bytes: number): void {
    if (this.bytes !== null) this.bytes += bytes;
  }

  /** Its pages move something through this machine. */
  proxies(sent: number, received: number): void {
    this.proxied = { sent: this.proxied.sent + sent, received: this.proxied.received + received };
  }

  breaks(): void {
    this.loss = { at: Date.parse('2030-01-01T00:00:00.000Z'), seen: 'its link closed', how: 'closed' };
  }

  figures = () => ({
    observedBytes: this.bytes,
    commands: this.sent,
    roundTripMs: null,
    savedMs: this.saved,
    proxied: this.proxied,
    carriedOrigins: this.origins,
    pictureBytes: this.screencast.bytes(),
  });
  note = () => undefined;
  lost = () => this.loss;
  markBroken = (seen: string) => {
    this.loss ??= { at: Date.parse('2030-01-01T00:00:00.000Z'), seen, how: 'broken' };
  };
}

/** A broker that keeps the reports it receives. */
export class FakeSink implements RecordSink {
  readonly usages: TestUsage[] = [];
  readonly asked: string[] = [];
  bandwidth: number | null = null;
  status: string | null = 'error';
  gone = false;

  async testUsage(usage: TestUsage): Promise<void> {
    if (this.gone) throw new Error('the broker is gone');
    this.usages.push(usage);
  }

  async redact({ texts }: { texts: string[] }): Promise<string[]> {
    return texts;
  }

  async sessionReport({ sessionId }: { sessionId: string }): Promise<SessionReport> {
    this.asked.push(sessionId);
    if (this.gone) throw new Error('the broker is gone');
    return { status: this.status, stoppedAt: null, bandwidthBytes: this.bandwidth };
  }

  /** Session and bytes of each reported test. */
  get reports(): [sessionId: string, bytes: number | null][] {
    return this.usages.map(({ sessionId, test }) => [sessionId, test.observedBytes]);
  }
}
