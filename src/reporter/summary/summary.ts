import { largest } from '../../common/numbers/extremes.ts';
import { shellWord } from '../../common/text/printable.ts';
import type { RunFigures, RunWithFigures, TestTry } from '../../record/figures.ts';
import { figureRows } from './figure-rows.ts';
import { bytes, duration, many } from './format.ts';
import type { Sheet } from './layout.ts';

/** The summary at the end of a run, as text. */

/** Lines of one kind that are shown; the record has them all. */
const SHOWN = 10;
/** Width of the labels. */
const LABELS = 10;

/** Where the run's files are, as they are to be named. */
export interface SummaryFiles {
  record: string;
  timeline: string;
}

/** What goes with the figures. */
export interface SummaryOptions {
  /** Null: they could not be written. */
  files: SummaryFiles | null;
  /** On the budget. */
  notes?: string[];
  /** What it is printed on. */
  sheet: Sheet;
}

/** The summary, as lines to print. */
export function summaryLines(run: RunWithFigures, { files, notes = [], sheet }: SummaryOptions): string[] {
  const { figures } = run;
  return [
    ...sheet.text(headline(run), '  ', 'bold'),
    ...figureRows(run).flatMap(({ label, value }) => sheet.labelled(labelOf(label), value)),
    ...namedLines('slowest', figures.slowest, ({ durationMs }) => duration(durationMs), sheet),
    ...namedLines('heaviest', figures.heaviest, ({ observedBytes }) => bytes(observedBytes ?? 0), sheet),
    ...problems(figures).flatMap((problem) => sheet.text(`  ${problem}`, '    ', 'red')),
    ...notes.flatMap((note) => sheet.text(`  ${note}`, '    ', 'yellow')),
    ...(files ? [`${labelOf('timeline')}${files.timeline}`, `${labelOf('record')}${files.record}`] : []),
  ];
}

/** `8 tests on 2 hosted browsers`. */
export function headline({ record: { service, merged }, figures: { tests, sessions } }: RunWithFigures): string {
  // The attachments of tests, from which blobs are merged, do not say which service it was.
  const where = service === null ? 'browser' : service === 'emulator' ? 'emulated browser' : 'hosted browser';
  const from = merged.length > 0 ? ` in ${many(merged.length, 'run')}` : '';
  return `poolwright: ${many(tests, 'test')} on ${many(sessions, where)}${from}`;
}

/** What went wrong with browsers, apart from tests that failed: one line each. */
export function problems({ lost, leaseFailures, unconfirmed }: RunFigures): string[] {
  return [
    ...some(lost.map((text) => `browser lost: ${text}`)),
    ...some(leaseFailures.map((text) => `no browser: ${text}`)),
    ...unconfirmed.map(
      (id) => `NOT CONFIRMED ENDED: session ${id}. Stop it: npx poolwright sessions stop ${shellWord(id)}`,
    ),
  ];
}

/** A test by project, file and title. */
export function nameOf({ project, file, line: at, title, retry }: TestTry): string {
  return `${project ? `[${project}] ` : ''}${file}${at > 0 ? `:${at}` : ''} › ${title}${retry > 0 ? ` (retry ${retry})` : ''}`;
}

function some(lines: string[]): string[] {
  if (lines.length <= SHOWN) return lines;
  return [...lines.slice(0, SHOWN), `… and ${lines.length - SHOWN} more, in the record`];
}

function namedLines(label: string, tries: TestTry[], value: (one: TestTry) => string, sheet: Sheet): string[] {
  const width = largest(tries.map((one) => value(one).length));
  return tries.map((one, n) =>
    sheet.cut(labelOf(n === 0 ? label : ''), `${value(one).padStart(width)}  ${nameOf(one)}`),
  );
}

function labelOf(label: string): string {
  return `  ${label.padEnd(LABELS)}`;
}
