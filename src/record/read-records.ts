import { readFileSync } from 'node:fs';
import { errorMessage } from '../common/error-message.ts';
import { describeIssues } from '../common/validation.ts';
import { type RunRecord, runRecord } from './run-record.ts';

/** A file that is no record to merge. */
export interface SkippedFile {
  file: string;
  why: string;
}

/** Reads records; a file that is none of this version is named with the reason, and the others are read all the same. */
export function readRecords(files: string[]): { records: RunRecord[]; skipped: SkippedFile[] } {
  const records: RunRecord[] = [];
  const skipped: SkippedFile[] = [];
  const seen = new Map<string, string>();
  for (const file of files) {
    const read = readOne(file);
    if ('why' in read) {
      skipped.push({ file, why: read.why });
      continue;
    }
    const { runId, shard, startedAt } = read.record;
    const key = JSON.stringify([runId, shard, startedAt]);
    const same = seen.get(key);
    if (same === undefined) records.push(read.record);
    else skipped.push({ file, why: `it is of the same run as ${same}` });
    seen.set(key, same ?? file);
  }
  return { records, skipped };
}

function readOne(file: string): { record: RunRecord } | { why: string } {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const missing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    return { why: missing ? 'there is no such file' : `it cannot be read (${errorMessage(error)})` };
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { why: text.trim() === '' ? 'it is empty' : 'it is not whole, or no JSON' };
  }
  const parsed = runRecord.safeParse(value);
  if (parsed.success) return { record: parsed.data };
  const version = typeof value === 'object' && value !== null && 'schema' in value ? value.schema : undefined;
  if (version === undefined) return { why: 'it is no run.json of poolwright (it has no `schema`)' };
  if (typeof version !== 'number') return { why: 'its `schema` is no number' };
  if (version !== 1) return { why: `it is of version ${version}, and this poolwright reads version 1` };
  const [problem = 'it is no record'] = describeIssues(parsed.error, value, runRecord);
  return { why: problem };
}
