import { join, relative } from 'node:path';
import type { Budget } from '../options/budget.ts';
import { type ReckonedRun, reckonUp } from '../record/figures.ts';
import { recordText, writeWhole } from '../record/record-file.ts';
import type { RunRecord } from '../record/run-record.ts';
import { checkBudget } from './summary/budget.ts';
import { reportToGitHub } from './summary/github.ts';
import { type SummaryFiles, summaryLines } from './summary/summary.ts';
import { timelineHtml } from './timeline/timeline-page.ts';

/**
 * What a run leaves: record, timeline, summary. Written at once when the run is over, and told when it is the turn of
 * whoever tells it: two steps, in this order.
 */

/** A run whose files are written. */
export interface WrittenRun extends ReckonedRun {
  /** Where they are, seen from the working directory; null: they could not be written. */
  files: SummaryFiles | null;
  /** Why not; null where they are. */
  failure: string | null;
}

/**
 * Writes `run.json` and `timeline.html` into a folder. Never rejects.
 * @param htmlReport address of the HTML report, seen from there; null: none
 */
export async function writeRun(record: RunRecord, folder: string, htmlReport: string | null): Promise<WrittenRun> {
  const run = reckonUp(record);
  const files = { record: join(folder, 'run.json'), timeline: join(folder, 'timeline.html') };
  try {
    await writeWhole(files.record, recordText(record));
    await writeWhole(files.timeline, timelineHtml(run, htmlReport));
  } catch (error) {
    return { ...run, files: null, failure: error instanceof Error ? error.message : String(error) };
  }
  return {
    ...run,
    files: { record: relative('', files.record), timeline: relative('', files.timeline) },
    failure: null,
  };
}

/** Prints a run's summary, here and on GitHub. Returns what of the budget was exceeded, one line each. */
export function tellRun(run: WrittenRun, budget: Budget): string[] {
  const { exceeded, unknown } = checkBudget(run.figures, budget);
  const notes = [...unknown, ...exceeded];
  const unwritten =
    run.failure === null ? '' : `poolwright: record and timeline could not be written: ${run.failure}\n`;
  const lines = [
    ...summaryLines(run, { files: run.files, notes, stream: process.stderr }),
    ...reportToGitHub(run, notes, process.env),
  ];
  // To standard error: standard output may be a reporter's JSON.
  process.stderr.write(`${unwritten}\n${lines.join('\n')}\n`);
  return exceeded;
}
