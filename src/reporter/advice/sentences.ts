import type { Advice } from '../../advise/advise.ts';
import type { LongGroup } from '../../advise/bounds.ts';
import type { SourceCost } from '../../advise/losses.ts';
import { duration, many } from '../summary/format.ts';

/** Advice in sentences, as the command and the timeline page show it. */

/** From so many times the mean on, the longest shard is worth a word. */
const UNEVEN = 1.15;
/** From this share of a run on, a saving is worth a word. */
const WORTH = 0.05;
/** Fewer browser-minutes round to none. */
const LEAST_MINUTES = 0.05;

/** Where browsers come from, what that costs, and what would be better. */
export function waitLines({ waits, of }: Advice): string[] {
  const { sources, waitedMs, savesMs, savesBrowserMs, recommended, why } = waits;
  const together = `Workers wait ${duration(waitedMs)} for browsers, all of them together, in a run with ${many(of.browsers, 'browser')}.`;
  const less = savesBrowserMs < LEAST_MINUTES * 60_000 ? '' : `, and take ${minutes(savesBrowserMs)} less`;
  const best = `With a browser that is always ready it would be ${shorter(savesMs, of.medianMs)}${less}.`;
  return [...sources.map((each) => sourceLine(each, sources.length > 1)), together, best, POOL_LINES[why](recommended)];
}

const POOL_LINES: Record<Advice['waits']['why'], (recommended: string) => string> = {
  compared: (recommended) =>
    `Better: ${recommended === 'pool' ? 'the pool' : 'sessions, which need no browsers that stand by'}.`,
  'a pool that always has a browser saves little': () =>
    'Better: sessions. A pool could save no more than that, and its browsers count while they stand by.',
  'a pool that always has a browser saves much': () =>
    'Better: a pool, if it is as large as the number of browsers; its browsers count while they stand by, too.',
  unknown: () => 'How long sessions take to start is not on record: one run without `pool` shows it.',
};

function sourceLine({ source, browsers, startMs, waitMs, wallMs }: SourceCost, compare: boolean): string {
  const word = source === 'pool' ? 'Leases' : 'Sessions';
  const wall = compare ? `; the run, with ${source === 'pool' ? 'leases' : 'sessions'} only: ${duration(wallMs)}` : '';
  return `${word} (${browsers} on record): ${duration(startMs)} from asking to having one, ${duration(waitMs)} of it waited for by a worker (medians)${wall}.`;
}

/** What failed tries cost. */
export function retryLine({ retries, of }: Advice): string {
  const { failedTries, failedMs, savesMs } = retries;
  if (failedTries === 0) return 'No try failed.';
  const count = Number.isInteger(failedTries) ? String(failedTries) : failedTries.toFixed(1);
  return `${count} failed ${failedTries === 1 ? 'try' : 'tries'} a run, which took ${duration(failedMs)}. If every test passed at once it would be ${shorter(savesMs, of.medianMs)}.`;
}

/** What no number of browsers makes shorter. */
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
  return boundsFrom < groups ? `${what}; a run waits for it from ${many(boundsFrom, 'worker')} on` : what;
}

/** What `fullyParallel` would do; nothing where it does nothing. */
export function parallelLine({ fullyParallelMs, of }: Advice): string[] {
  if (fullyParallelMs === null || of.medianMs - fullyParallelMs < of.medianMs * WORTH) return [];
  return [
    `With \`fullyParallel: true\` it would be ${duration(fullyParallelMs)} instead of ${duration(of.medianMs)}, if the tests of a file do not need each other.`,
  ];
}

/** How even shards are; nothing where they are. */
export function shardLine({ imbalance, of }: Advice): string[] {
  if (imbalance < UNEVEN) return [];
  const more = Math.round((imbalance - 1) * 100);
  return [
    `Playwright gives each of the ${of.shards} shards as many tests: the longest one has ${more} % more to do than the mean.`,
  ];
}

function shorter(ms: number, of: number): string {
  const share = of > 0 ? Math.round((ms / of) * 100) : 0;
  return share === 0 ? 'no shorter' : `${duration(ms)} (${share} %) shorter`;
}

function minutes(ms: number): string {
  return `${(ms / 60_000).toFixed(1)} browser-minutes`;
}
