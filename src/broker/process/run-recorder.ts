import { RecordFile, readRecord } from '../../record/record-file.ts';
import type { RunRecord, SessionRecord } from '../../record/run-record.ts';
import type { ServiceClient } from '../../service/index.ts';
import type { TestUsage } from '../rpc/protocol.ts';
import type { BrokerConfig } from './config.ts';
import type { Log } from './log.ts';

/** Bound on asking what is left of the balance, in ms: a figure is not worth a wait. */
const BALANCE_TIMEOUT_MS = 5_000;

/** What is put on record. */
export interface RecorderOptions {
  config: BrokerConfig;
  log: Log;
  startedAt: Date;
  chromiums: string[];
  /** The workspace's balance before the run; null where the service does not say. */
  startCents: number | null;
}

/** Puts a run on record, while it goes on and at its end. */
export class RunRecorder {
  readonly #file: RecordFile;
  readonly #earlier: RunRecord | null;
  readonly #sessions: SessionRecord[] = [];
  readonly #leaseFailures = new Set<string>();

  readonly #options: RecorderOptions;

  constructor(options: RecorderOptions) {
    this.#options = options;

    const { config, log } = options;
    this.#earlier = config.recordFolder === null ? null : ofDeadBroker(readRecord(config.recordFolder), config.runId);
    this.#file = new RecordFile(
      config.recordFolder,
      () => this.#record(null, null),
      (error) => log.error('run.json could not be written', error),
    );
  }

  /** Its sessions in the order they were got. What changes in one of them is told by {@link changed}. */
  get sessions(): readonly SessionRecord[] {
    return this.#sessions;
  }

  /** Why browsers could not be had, each reason once: twenty workers without credit are one line. */
  get leaseFailures(): readonly string[] {
    return [...this.#leaseFailures];
  }

  /** The run has got another session. */
  add(session: SessionRecord): void {
    this.#sessions.push(session);
    this.changed();
  }

  /** Adds what a test used to its session. */
  testUsed({ sessionId, test, bridgedBytes }: TestUsage): void {
    const session = this.#sessions.find((each) => each.sessionId === sessionId);
    if (!session) return;
    session.testsServed += 1;
    session.observedBytes += test.observedBytes ?? 0;
    session.bridgedBytes += bridgedBytes;
    if (test.infrastructureFailure) session.infrastructureFailures.push(test.infrastructureFailure);
    session.tests.push(test);
    this.changed();
  }

  /** A browser could not be had. */
  leaseFailed(reason: string): void {
    this.#leaseFailures.add(reason);
  }

  /** Something on record has changed. */
  changed(): void {
    this.#file.touch();
  }

  /** Every browser has ended: the last word, on disk when this resolves. */
  async close(client: ServiceClient): Promise<RunRecord> {
    const asked =
      this.#options.startCents === null ? null : client.getBalance({ timeout: BALANCE_TIMEOUT_MS, retry: 'none' });
    const balance = await asked?.catch(() => null);
    const last = this.#record(new Date().toISOString(), balance?.balance_cents ?? null);
    await this.#file.close(last);
    return last;
  }

  #record(endedAt: string | null, endCents: number | null): RunRecord {
    const { config, chromiums, startedAt, startCents } = this.#options;
    const earlier = this.#earlier;
    return {
      schema: 1,
      runId: config.runId,
      service: config.service.kind,
      chromiums,
      shard: config.shard,
      startedAt: earlier?.startedAt ?? startedAt.toISOString(),
      endedAt,
      sessions: [...(earlier?.sessions ?? []), ...this.#sessions],
      leaseFailures: [...new Set([...(earlier?.leaseFailures ?? []), ...this.#leaseFailures])],
      // What the dead broker's browsers cost is not between these two figures.
      balance: startCents === null || endCents === null || earlier ? null : { startCents, endCents },
      merged: [],
    };
  }
}

/** What a broker of this run that died had on record. How its browsers ended is the ledger's business. */
function ofDeadBroker(record: RunRecord | null, runId: string): RunRecord | null {
  if (record?.runId !== runId || record.endedAt !== null) return null;
  const sessions = record.sessions.map((session) =>
    session.endedAt === null ? { ...session, endReason: 'broker-died' as const, endConfirmed: null } : session,
  );
  return { ...record, sessions };
}
