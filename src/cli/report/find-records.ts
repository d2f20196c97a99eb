import { type Dirent, existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { OptionsError } from '../../errors.ts';
import { readRecords, type SkippedFile } from '../../record/read-records.ts';
import type { NamedRecord } from '../../report/advice/past/past-runs.ts';

/** Default places of a run's record, and of the output of `report merge`. */
const USUAL = ['test-results/poolwright/run.json', 'poolwright-report/run.json'];
/** Directories in a directory that are looked into. */
const DEEPEST = 8;

/**
 * Returns the records in these files and directories, and the invalid files with the reason.
 * @param given empty: where a run leaves its record
 * @throws OptionsError when there is nothing to read
 */
export function findRecords(given: readonly string[]): { records: NamedRecord[]; skipped: SkippedFile[] } {
  const usual = USUAL.filter((file) => existsSync(file)).slice(0, 1);
  if (given.length === 0 && usual.length === 0) {
    throw new OptionsError(
      'files',
      `there is no ${USUAL.join(' and no ')} here: name run.json files, or directories with some`,
    );
  }
  const records: NamedRecord[] = [];
  const skipped: SkippedFile[] = [];
  for (const path of given.length > 0 ? given : usual) {
    const files = isDirectory(path) ? runFilesIn(path, 0) : [path];
    if (files.length === 0) skipped.push({ file: path, why: 'there is no run.json in this directory' });
    for (const file of new Set(files)) {
      const read = readRecords([file]);
      for (const record of read.records) records.push({ file, record });
      for (const each of read.skipped) skipped.push(each);
    }
  }
  return { records, skipped };
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** Files whose name ends in `run.json`, because users collect them under names such as `2026-03-01-run.json`. */
function runFilesIn(directory: string, depth: number): string[] {
  return entriesOf(directory).flatMap((entry) => {
    const path = join(directory, entry.name);
    if (entry.isFile()) return entry.name.endsWith('run.json') ? [path] : [];
    const isSeen = entry.isDirectory() && entry.name !== 'node_modules' && depth < DEEPEST;
    return isSeen ? runFilesIn(path, depth + 1) : [];
  });
}

/** What may not be read is not there. */
function entriesOf(directory: string): Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true }).sort((a, b) => a.name.localeCompare(b.name));
  } catch {
    return [];
  }
}
