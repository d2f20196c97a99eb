import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type RunRecord, runRecord } from './run-record.ts';

export function recordText(record: RunRecord): string {
  return `${JSON.stringify(record, null, 2)}\n`;
}

/** Reads the record in a run's directory; null if it is missing, invalid or of another version. */
export function readRecord(directory: string): RunRecord | null {
  try {
    return runRecord.parse(JSON.parse(readFileSync(join(directory, 'run.json'), 'utf8')));
  } catch {
    return null;
  }
}
