import { join, relative } from 'node:path';
import { errorMessage } from '../common/error-message.ts';
import type { Budget } from '../options/budget.ts';
import { recordText, writeWhole } from '../record/record-file.ts';
import type { RunRecord } from '../record/run-record.ts';
import { checkBudget } from './summary/budget.ts';
import { reportToGitHub } from './summary/github.ts';
import { type SummaryFiles, summaryLines } from './summary/summary.ts';
import { timelinePage } from './timeline/timeline-page.ts';

/** What a run leaves: record, timeline, summary. */

export interface PublishOptions {
  /** Folder of `run.json` and `timeline.html`. */
  folder: string;
  /** Address of the HTML report, seen from there; null: none. */
  report: string | null;
  budget: Budget;
}

/** Writes record and timeline; answers where they are, seen from the working directory. */
export async function writeReport(record: RunRecord, folder: string, report: string | null): Promise<SummaryFiles> {
  const files = { record: join(folder, 'run.json'), timeline: join(folder, 'timeline.html') };
  await writeWhole(files.record, recordText(record));
  await writeWhole(files.timeline, timelinePage(record, report));
  return { record: relative('', files.record), timeline: relative('', files.timeline) };
}

/** Writes the files and prints the summary; answers what of the budget was exceeded, one line each. */
export async function publish(record: RunRecord, { folder, report, budget }: PublishOptions): Promise<string[]> {
  const { exceeded, unknown } = checkBudget(record, budget);
  const notes = [...unknown, ...exceeded];
  let files: SummaryFiles | null = null;
  try {
    files = await writeReport(record, folder, report);
  } catch (error) {
    const reason = errorMessage(error);
    process.stderr.write(`poolwright: record and timeline could not be written: ${reason}\n`);
  }
  const lines = [
    ...summaryLines(record, { files, notes, stream: process.stderr }),
    ...reportToGitHub(record, notes, process.env),
  ];
  // To standard error: standard output may be a reporter's JSON.
  process.stderr.write(`\n${lines.join('\n')}\n`);
  return exceeded;
}
