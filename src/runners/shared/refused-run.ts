import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PoolwrightError } from '../../errors.ts';
import { failureOf } from '../../record/failures.ts';
import { readRecord, recordText } from '../../record/record-file.ts';
import type { RunRecord } from '../../record/run-record.ts';

/** A run that cannot begin. */
export interface RefusedRun extends Pick<RunRecord, 'runner' | 'shard'> {
  /** Directory of `run.json`; null: nothing is written. */
  recordDirectory: string | null;
}

/**
 * Writes the record of a run that cannot begin, with the reason, unless its broker has recorded it. Synchronous, as a
 * config is. Never throws: the caller reports the reason itself.
 */
export function recordRefusedRun({ recordDirectory, runner, shard }: RefusedRun, reason: unknown): void {
  if (recordDirectory === null || !(reason instanceof PoolwrightError)) return;
  const known = readRecord(recordDirectory);
  // A record that is older than this process is of an earlier run.
  if (known && Date.parse(known.startedAt) >= performance.timeOrigin) return;
  const now = new Date().toISOString();
  const failure = failureOf(reason);
  const record: RunRecord = {
    schema: 1,
    runId: null,
    runner,
    service: null,
    chromiums: [],
    shard,
    browsers: null,
    startedAt: now,
    endedAt: now,
    sessions: [],
    leaseFailures: [failure.message],
    failures: [failure],
    balance: null,
    partition: null,
    work: null,
    merged: [],
  };
  try {
    mkdirSync(recordDirectory, { recursive: true });
    const draft = join(recordDirectory, `run.json.${process.pid}.tmp`);
    writeFileSync(draft, recordText(record));
    renameSync(draft, join(recordDirectory, 'run.json'));
  } catch {
    // The directory is read-only.
  }
}
