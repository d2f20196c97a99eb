import { join, relative } from 'node:path';
import { errorMessage } from '../common/error-message.ts';
import { notify } from '../common/text/notify.ts';
import { writeWhole } from '../common/write-whole.ts';
import type { Budget } from '../options/schema/budget.ts';
import { type RunWithFigures, withFigures } from '../record/figures.ts';
import { recordText } from '../record/record-file.ts';
import type { RunRecord } from '../record/run-record.ts';
import { checkBudget } from './summary/budget.ts';
import { reportToGitHub } from './summary/github.ts';
import { Sheet } from './summary/layout.ts';
import { type SummaryFiles, summaryLines } from './summary/summary.ts';
import { timelineHtml } from './timeline/timeline-page.ts';

/**
 * What a run leaves: record, timeline and summary. In two steps: the files are written as soon as the run is over, the
 * summary is printed after the other reporters' output.
 */

/** A run whose files are written. */
export interface WrittenRun extends RunWithFigures {
  /** Where they are, seen from the working directory; null: one could not be written. */
  files: SummaryFiles | null;
  /** Why not; null where they are. */
  failure: string | null;
  /** Whether `run.json` is on disk. */
  isRecorded: boolean;
}

/** Where a run's files go, and what they name. */
export interface WriteOptions {
  folder: string;
  /** Address of the HTML report, seen from there; null: none. */
  htmlReport: string | null;
  /** Makes the timeline. Default: {@link timelineHtml}, whose script is in the built package only. */
  timeline?: typeof timelineHtml;
}

/** Writes `run.json` and `timeline.html`. Never rejects. */
export async function writeRun(
  record: RunRecord,
  { folder, htmlReport, timeline = timelineHtml }: WriteOptions,
): Promise<WrittenRun> {
  const run = withFigures(record);
  const files = { record: join(folder, 'run.json'), timeline: join(folder, 'timeline.html') };
  let isRecorded = false;
  try {
    await writeWhole(files.record, recordText(record));
    isRecorded = true;
    await writeWhole(files.timeline, timeline(run, htmlReport));
  } catch (error) {
    return { ...run, files: null, failure: errorMessage(error), isRecorded };
  }
  const seen = { record: relative('', files.record), timeline: relative('', files.timeline) };
  return { ...run, files: seen, failure: null, isRecorded };
}

/** Prints a run's summary, here and on GitHub. Returns what of the budget was exceeded, one line each. */
export function printRun(run: WrittenRun, budget: Budget): string[] {
  const { exceeded, unknown } = checkBudget(run.figures, budget);
  const notes = [...unknown, ...exceeded];
  const lines = [
    ...summaryLines(run, { files: run.files, notes, sheet: Sheet.of(process.stderr, process.env) }),
    ...reportToGitHub(run, notes, process.env),
  ];
  // To standard error: standard output may be a reporter's JSON.
  if (run.failure !== null) notify(`record and timeline could not be written: ${run.failure}`);
  process.stderr.write(`\n${lines.join('\n')}\n`);
  return exceeded;
}
