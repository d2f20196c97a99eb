import { duration, many } from '../summary/format.ts';
import type { Advice } from './advise.ts';
import type { LongGroup } from './bounds.ts';
import type { SourceCost } from './losses.ts';

/** Advice as sentences, for the command and the timeline page. */

/** Uneven shards are reported if the longest one exceeds the mean by this factor. */
const UNEVEN = 1.15;
/** A saving is reported from this share of a run. */
const WORTH = 0.05;
/** Fewer browser-minutes are rounded to zero. */
const MIN_MINUTES = 0.05;

/** The sources of browsers, the cost of waiting, and the recommendation. */
export function waitLines({ waits, of }: Advice): string[] {
  const { sources, waitedMs, savesMs, savesBrowserMs, recommended, why } = waits;
  const together = `In a run with ${many(of.browsers, 'browser')}, workers wait ${duration(waitedMs)} for browsers in total.`;
  const less = savesBrowserMs < MIN_MINUTES * 60_000 ? '' : `, and take ${minutes(savesBrowserMs)} less`;
  const best = `If a browser were always ready, the run would be ${shorter(savesMs, of.medianMs)}${less}.`;
  return [...sources.map((each) => sourceLine(each, sources.length > 1)), together, best, POOL_LINES[why](recommended)];
}

const POOL_LINES: Record<Advice['waits']['why'], (recommended: string) => string> = {
  compared: (recommended) =>
    `Better: ${recommended === 'pool' ? 'the pool' : 'sessions, which need no standby browsers'}.`,
  'a pool that always has a browser saves little': () =>
    'Better: sessions. A pool could save no more than that, and its standby browsers count as used.',
  'a pool that always has a browser saves much': () =>
    'Better: a pool, if it has as many browsers as the run needs; its standby browsers count as used, too.',
  unknown: () => 'The records do not show how long sessions take to start. Record one run without `pool`.',
};

function sourceLine({ source, browsers, startMs, waitMs, wallMs }: SourceCost, compare: boolean): string {
  const word = source === 'pool' ? 'Leases' : 'Sessions';
  const wall = compare
    ? `; a run with only ${source === 'pool' ? 'leases' : 'sessions'} takes ${duration(wallMs)}`
    : '';
  return `${word} (${browsers} recorded): ${duration(startMs)} from request to browser, of which a worker waited ${duration(waitMs)} (medians)${wall}.`;
}

/** The cost of failed tries. */
export function retryLine({ retries, of }: Advice): string {
  const { failedTries, failedMs, savesMs } = retries;
  if (failedTries === 0) return 'No try failed.';
  const count = Number.isInteger(failedTries) ? String(failedTries) : failedTries.toFixed(1);
  return `${count} failed ${failedTries === 1 ? 'try' : 'tries'} per run, which took ${duration(failedMs)}. If every test passed at its first try, the run would be ${shorter(savesMs, of.medianMs)}.`;
}

/** Lower bounds that no number of browsers changes. */
export function boundLines({ bounds, suite }: Advice): string[] {
  return bounds.groups.map((group) => boundLine(group, suite.groups));
}

function boundLine({ project, file, tests, ms, boundsFrom, slowest }: LongGroup, groups: number): string {
  const name = `${project ? `[${project}] ` : ''}${file}`;
  const where = `${file}:${slowest.line} › ${slowest.title}`;
  const what =
    tests === 1
      ? `${project ? `[${project}] ` : ''}${where}: ${duration(ms)}`
      : `${name}: ${duration(ms)} for ${tests} tests in one worker, ${duration(slowest.ms)} of it "${slowest.title}" in line ${slowest.line}`;
  return boundsFrom < groups ? `${what}; from ${many(boundsFrom, 'worker')} on, a run waits for it` : what;
}

/** The effect of `fullyParallel`; nothing if it is small. */
export function parallelLine({ fullyParallelMs, of }: Advice): string[] {
  if (fullyParallelMs === null || of.medianMs - fullyParallelMs < of.medianMs * WORTH) return [];
  return [
    `With \`fullyParallel: true\` the run would take ${duration(fullyParallelMs)} instead of ${duration(of.medianMs)}, if the tests of a file do not depend on each other.`,
  ];
}

/** How uneven the shards are; nothing if they are even. */
export function shardLine({ imbalance, of }: Advice): string[] {
  if (imbalance < UNEVEN) return [];
  const more = Math.round((imbalance - 1) * 100);
  return [
    `Playwright gives each of the ${of.shards} shards the same number of tests; the longest shard has ${more} % more work than the mean.`,
  ];
}

function shorter(ms: number, of: number): string {
  const share = of > 0 ? Math.round((ms / of) * 100) : 0;
  return share === 0 ? 'no shorter' : `${duration(ms)} (${share} %) shorter`;
}

function minutes(ms: number): string {
  return `${(ms / 60_000).toFixed(1)} browser-minutes`;
}
