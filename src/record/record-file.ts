import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type RunRecord, runRecord } from './run-record.ts';

/** A record as its file has it. */
export function recordText(record: RunRecord): string {
  return `${JSON.stringify(record, null, 2)}\n`;
}

/** The record in a run's folder; null when there is none that can be read as one of this version. */
export function readRecord(folder: string): RunRecord | null {
  try {
    return runRecord.parse(JSON.parse(readFileSync(join(folder, 'run.json'), 'utf8')));
  } catch {
    return null;
  }
}
