import { join, relative } from 'node:path';
import type { RunRecord, SessionRecord } from '../broker/run-record.ts';

/** The few lines at the end of a run. */

const REPORTED = Symbol.for('poolwright.summary-is-reported');
const holder = globalThis as { [REPORTED]?: boolean };

/** Said by the reporter when it is loaded: it prints the summary, after the other reporters' output has begun. */
export function reportSummaryHere(): void {
  holder[REPORTED] = true;
}

/** Whether a reporter will print the summary; with `--reporter=…` on the command line there is none of ours. */
export function summaryIsReported(): boolean {
  return holder[REPORTED] === true;
}

/** Prints to standard error: standard output may be a reporter's JSON. */
export function printSummary(record: RunRecord, folder: string): void {
  process.stderr.write(`\n${summaryLines(record, relative('', join(folder, 'run.json'))).join('\n')}\n`);
}

/** The summary as text, one line an item. */
export function summaryLines(record: RunRecord, file: string): string[] {
  const { sessions } = record;
  const tests = sum(sessions, (session) => session.testsServed);
  const waits = sessions.flatMap(({ waitMs }) => waitMs ?? []).sort((a, b) => a - b);
  const pooled = sessions.filter((session) => session.source === 'pool').length;
  const lines = [
    `poolwright: ${tests} ${plural(tests, 'test')} on ${sessions.length} hosted ${plural(sessions.length, 'browser')}`,
    `  from      ${pooled} leased, ${sessions.length - pooled} created (${record.service ?? 'from blob reports'})`,
  ];
  if (waits.length > 0)
    lines.push(`  waited    median ${seconds(middle(waits))}, longest ${seconds(waits.at(-1) ?? 0)}`);
  lines.push(`  bandwidth ${bandwidth(sessions)}`);
  const failures = sessions.flatMap((session) => session.infrastructureFailures);
  for (const failure of failures) lines.push(`  browser lost: ${failure}`);
  for (const failure of new Set(record.leaseFailures)) lines.push(`  no browser: ${failure}`);
  for (const session of sessions.filter((one) => one.endConfirmed === false)) {
    lines.push(
      `  NOT CONFIRMED ENDED: session ${session.sessionId}. Stop it: npx poolwright sessions stop ${session.sessionId}`,
    );
  }
  lines.push(`  record    ${file}`);
  return lines;
}

function bandwidth(sessions: SessionRecord[]): string {
  const observed = `${bytes(sum(sessions, (session) => session.observedBytes))} observed in the tests' pages`;
  const known = sessions.filter((session) => session.bandwidthBytes !== null);
  if (known.length === 0) return `${observed} (no figure from the service)`;
  const total = sum(known, (session) => session.bandwidthBytes ?? 0);
  const missing = sessions.length - known.length;
  return `${bytes(total)} by the service, ${observed}${missing > 0 ? ` (${missing} without a figure)` : ''}`;
}

function sum<T>(items: T[], value: (item: T) => number): number {
  return items.reduce((total, item) => total + value(item), 0);
}

function middle(sorted: number[]): number {
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? 0;
}

function plural(count: number, word: string): string {
  return count === 1 ? word : `${word}s`;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

function bytes(count: number): string {
  if (count < 1000) return `${count} B`;
  if (count < 1_000_000) return `${(count / 1000).toFixed(1)} kB`;
  return `${(count / 1_000_000).toFixed(1)} MB`;
}
