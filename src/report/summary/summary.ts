import { largest } from '../../common/numbers/extremes.ts';
import { shellWord } from '../../printable.ts';
import { LISTED, movedBytes, type RunFigures, type RunWithFigures, type TestTry } from '../../record/figures.ts';
import { figureRows } from './figure-rows.ts';
import { bytes, duration, many, testWord } from './format.ts';
import type { Sheet } from './layout.ts';

/** The text summary at the end of a run. */

/** How many lines of one kind are shown. The record contains all of them. */
const SHOWN = 10;
const LABELS = 10;

/** Paths of the run's files, as they are printed. */
export interface SummaryFiles {
  record: string;
  timeline: string;
  /** Of features. */
  others: string[];
}

/** Options of {@link summaryLines}. */
export interface SummaryOptions {
  /** Those that were written. */
  files: Partial<SummaryFiles>;
  /** Notes on the budget. */
  notes?: string[];
  /** Where it is printed. */
  sheet: Sheet;
}

/** The summary as lines to print. What is zero is left out, and so are lists that would name every test. */
export function summaryLines(run: RunWithFigures, { files, notes = [], sheet }: SummaryOptions): string[] {
  const { figures } = run;
  const isLong = figures.tests + figures.retries > LISTED;
  return [
    ...sheet.text(headline(run), '  ', 'bold'),
    ...figureRows(run).flatMap(({ label, value }) => sheet.labelled(labelOf(label), value)),
    ...(isLong ? namedLines('slowest', figures.slowest, ({ durationMs }) => duration(durationMs), sheet) : []),
    ...(isLong ? namedLines('heaviest', figures.heaviest, (one) => bytes(movedBytes(one)), sheet) : []),
    ...problems(figures).flatMap((problem) => sheet.text(`  ${problem}`, '    ', 'red')),
    ...notes.flatMap((note) => sheet.text(`  ${note}`, '    ', 'yellow')),
    ...filesLine([files.timeline, files.record, ...(files.others ?? [])]),
  ];
}

const KINDS = {
  hosted: 'hosted browser',
  emulator: 'emulated browser',
  browsers: 'own browser',
  provider: 'own browser',
} as const;

/** `8 tests on 2 hosted browsers`. */
export function headline({
  record: { runner, service, merged },
  figures: { tests, sessions },
}: RunWithFigures): string {
  // Blobs are merged from the tests' attachments, which do not contain the service.
  const where = service === null ? 'browser' : KINDS[service];
  const from = merged.length > 0 ? ` in ${many(merged.length, 'run')}` : '';
  return `poolwright: ${many(tests, testWord(runner))} on ${many(sessions, where)}${from}`;
}

/** Problems with browsers, without failed tests, one line each. */
export function problems({ lost, leaseFailures, unconfirmed }: RunFigures): string[] {
  return [
    ...some(lost.map((text) => `browser lost: ${text}`)),
    ...some(leaseFailures.map((text) => `no browser: ${text}`)),
    ...unconfirmed.map(
      (id) => `NOT CONFIRMED ENDED: session ${id}. Stop it: npx poolwright sessions stop ${shellWord(id)}`,
    ),
  ];
}

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

function filesLine(given: readonly (string | undefined)[]): string[] {
  const written = given.filter((file) => file !== undefined);
  return written.length === 0 ? [] : [`${labelOf('files')}${written.join(', ')}`];
}

function labelOf(label: string): string {
  return `  ${label.padEnd(LABELS)}`;
}
