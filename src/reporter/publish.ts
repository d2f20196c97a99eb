import { join, relative } from 'node:path';
import { recordText, writeWhole } from '../broker/record-file.ts';
import type { RunRecord } from '../broker/run-record.ts';
import type { Budget } from '../options/budget.ts';
import { checkBudget } from './budget.ts';
import { summaryLines } from './summary.ts';
import { timelinePage } from './timeline/timeline-page.ts';

/** What a run leaves: record, timeline, summary. */

export interface PublishOptions {
  /** Folder of `run.json` and `timeline.html`. */
  folder: string;
  /** Address of the HTML report, seen from there; null: none. */
  report: string | null;
  budget: Budget;
}

/** Writes the files and prints the summary; answers what of the budget was exceeded, one line each. */
export async function publish(record: RunRecord, { folder, report, budget }: PublishOptions): Promise<string[]> {
  const files = { record: join(folder, 'run.json'), timeline: join(folder, 'timeline.html') };
  try {
    await writeWhole(files.record, recordText(record));
    await writeWhole(files.timeline, timelinePage(record, report));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    process.stderr.write(`poolwright: record and timeline could not be written: ${reason}\n`);
  }
  const { exceeded, unknown } = checkBudget(record, budget);
  const named = { record: relative('', files.record), timeline: relative('', files.timeline) };
  // To standard error: standard output may be a reporter's JSON.
  process.stderr.write(`\n${summaryLines(record, named, [...unknown, ...exceeded]).join('\n')}\n`);
  return exceeded;
}
