import { join, relative } from 'node:path';
import { errorMessage } from '../common/error-message.ts';
import { notify, print } from '../common/text/notify.ts';
import { writeAtomically } from '../common/write-atomically.ts';
import type { Budget } from '../options/schema/reporter.ts';
import { failure } from '../record/failures.ts';
import { type FigureRow, type RunWithFigures, withFigures } from '../record/figures.ts';
import { recordText } from '../record/record-file.ts';
import type { RunRecord } from '../record/run-record.ts';
import { type BudgetCheck, checkBudget } from './summary/budget.ts';
import { reportToGitHub } from './summary/github.ts';
import { Sheet } from './summary/layout.ts';
import { type SummaryFiles, summaryLines } from './summary/summary.ts';
import { timelineHtml } from './timeline/timeline-page.ts';

/**
 * Publishes record, timeline and summary of a run. The files are written as soon as the run has ended; the summary is
 * printed after the output of the other reporters.
 */

export interface WrittenRun extends RunWithFigures {
  budget: BudgetCheck;
  /** The files that were written, relative to the working directory. */
  files: Partial<SummaryFiles>;
  /** What could not be written, and why; null if everything was. */
  failure: string | null;
}

/** Where a run's files are written, and what they link to. */
export interface WriteOptions {
  directory: string;
  /** Address of the HTML report relative to `directory`, or null. */
  htmlReport: string | null;
  /** What the run may use. Default: no limit. */
  budget?: Budget;
  /** Of features. Default: none. */
  figures?: readonly FigureRow[];
  /** Creates the timeline. Default: {@link timelineHtml}, whose script exists only in the built package. */
  timeline?: typeof timelineHtml;
}

/** Checks the budget, and writes `run.json` and `timeline.html`. Never rejects. */
export async function writeRun(
  record: RunRecord,
  { directory, htmlReport, budget: limits = {}, figures: others = [], timeline = timelineHtml }: WriteOptions,
): Promise<WrittenRun> {
  const run = { ...withFigures(record), others };
  const budget = checkBudget(run.figures, limits);
  const exceeded = budget.exceeded.map((message) => failure('BUDGET_EXCEEDED', message));
  const files: Partial<SummaryFiles> = {};
  let file = join(directory, 'run.json');
  try {
    await writeAtomically(file, recordText({ ...record, failures: [...record.failures, ...exceeded] }));
    files.record = relative('', file);
    // Last, because `poolwright report merge` can make it again from the record.
    file = join(directory, 'timeline.html');
    await writeAtomically(file, timeline(run, htmlReport));
    files.timeline = relative('', file);
    return { ...run, budget, files, failure: null };
  } catch (error) {
    return { ...run, budget, files, failure: `${file} could not be written: ${errorMessage(error)}` };
  }
}

/**
 * Prints a run's summary, here and on GitHub.
 * @param said the errors that the runner has printed itself
 * @returns the exceeded budget limits, one line each
 */
export function printRun(run: WrittenRun, said: readonly string[] = []): string[] {
  const { exceeded, unknown } = run.budget;
  const notes = [...unknown, ...exceeded];
  const { tests, sessions } = run.figures;
  const isSaid = (reason: string) => said.some((error) => error.includes(reason));
  const isEmpty =
    run.failure === null && tests + sessions + notes.length === 0 && run.record.leaseFailures.every(isSaid);
  const sheet = Sheet.of(process.stderr, process.env);
  const lines = isEmpty
    ? []
    : [...summaryLines(run, { files: run.files, notes, sheet }), ...reportToGitHub(run, notes, process.env)];
  // To stderr, because stdout may contain a reporter's JSON.
  if (run.failure !== null) notify(run.failure);
  if (lines.length > 0) void print(`\n${lines.join('\n')}`);
  return exceeded;
}
