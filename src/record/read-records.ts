import { readFileSync } from 'node:fs';
import { errorMessage } from '../common/error-message.ts';
import { describeIssues } from '../common/validation.ts';
import { type RunRecord, runRecord } from './run-record.ts';

/** Reads records to merge them. A run, which loads `record-file`, does without what says why one is invalid. */

/** A file that cannot be merged. */
export interface SkippedFile {
  file: string;
  why: string;
}

/**
 * Reads records. Skips each file that is not a valid record of this version, and reports the reason. `files`: of each
 * record, its file.
 */
export function readRecords(given: string[]): { records: RunRecord[]; files: string[]; skipped: SkippedFile[] } {
  const records: RunRecord[] = [];
  const files: string[] = [];
  const skipped: SkippedFile[] = [];
  const seen = new Map<string, string>();
  for (const file of given) {
    const read = readOne(file);
    if ('why' in read) {
      skipped.push({ file, why: read.why });
      continue;
    }
    const { runId, shard, startedAt } = read.record;
    const key = JSON.stringify([runId, shard, startedAt]);
    const same = seen.get(key);
    if (same === undefined) {
      records.push(read.record);
      files.push(file);
    } else skipped.push({ file, why: `it is from the same run as ${same}` });
    seen.set(key, same ?? file);
  }
  return { records, files, skipped };
}

function readOne(file: string): { record: RunRecord } | { why: string } {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const missing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    return { why: missing ? 'the file does not exist' : `it cannot be read (${errorMessage(error)})` };
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { why: text.trim() === '' ? 'it is empty' : 'it is incomplete or not JSON' };
  }
  const parsed = runRecord.safeParse(value);
  if (parsed.success) return { record: parsed.data };
  const version = typeof value === 'object' && value !== null && 'schema' in value ? value.schema : undefined;
  if (version === undefined) return { why: 'it is not a run.json of poolwright (it has no `schema`)' };
  if (typeof version !== 'number') return { why: 'its `schema` is not a number' };
  if (version !== 1) return { why: `it has version ${version}, but this poolwright reads version 1` };
  const [problem = 'it is not a record'] = describeIssues(parsed.error, value, runRecord);
  return { why: problem };
}
