import type { WriteStream } from 'node:tty';
import type { RunFigures, RunWithFigures, TestTry } from '../../record/figures.ts';
import { figureRows } from './figure-rows.ts';
import { bytes, duration, many } from './format.ts';

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
  /** Where it is printed: on a terminal, names of tests end with its width. */
  stream: Pick<WriteStream, 'isTTY' | 'columns'>;
}

/** The summary, one line an item. */
export function summaryLines(run: RunWithFigures, { files, notes = [], stream }: SummaryOptions): string[] {
  const { figures } = run;
  const width = stream.isTTY && stream.columns > 0 ? stream.columns : Number.POSITIVE_INFINITY;
  return [
    headline(run),
    ...figureRows(figures).map(({ label, value }) => line(label, value)),
    ...[
      ...namedLines('slowest', figures.slowest, ({ durationMs }) => duration(durationMs)),
      ...namedLines('heaviest', figures.heaviest, ({ observedBytes }) => bytes(observedBytes ?? 0)),
    ].map((named) => (named.length > width ? `${named.slice(0, width - 1)}…` : named)),
    ...problems(figures).map((problem) => `  ${problem}`),
    ...notes.map((note) => `  ${note}`),
    ...(files ? [line('timeline', files.timeline), line('record', files.record)] : []),
  ];
}

/** `8 tests on 2 hosted browsers`. */
export function headline({ record: { service, merged }, figures: { tests, sessions } }: RunWithFigures): string {
  const where = service === 'emulator' ? 'emulated' : 'hosted';
  const from = merged.length > 0 ? ` in ${many(merged.length, 'run')}` : '';
  return `poolwright: ${many(tests, 'test')} on ${many(sessions, `${where} browser`)}${from}`;
}

/** What went wrong with browsers, apart from tests that failed: one line each. */
export function problems({ lost, leaseFailures, unconfirmed }: RunFigures): string[] {
  return [
    ...some(lost.map((text) => `browser lost: ${text}`)),
    ...some(leaseFailures.map((text) => `no browser: ${text}`)),
    ...unconfirmed.map((id) => `NOT CONFIRMED ENDED: session ${id}. Stop it: npx poolwright sessions stop ${id}`),
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

function namedLines(label: string, tries: TestTry[], value: (one: TestTry) => string): string[] {
  const width = Math.max(...tries.map((one) => value(one).length));
  return tries.map((one, n) => line(n === 0 ? label : '', `${value(one).padStart(width)}  ${nameOf(one)}`));
}

function line(label: string, value: string): string {
  return `  ${label.padEnd(LABELS)}${value}`;
}
