import { printable } from '../../../printable.ts';
import type { Advice } from '../../../report/advise/advise.ts';
import type { Choice, Goals } from '../../../report/advise/choices.ts';
import { boundLines, parallelLine, retryLine, shardLine, waitLines } from '../../../report/advise/sentences.ts';
import { duration, many } from '../../../report/summary/format.ts';
import { tableLines } from '../../print.ts';

/** Advice for a person, as lines to print. */
export function adviceLines(advice: Advice, goals: Goals): string[] {
  const { notes } = advice;
  const lines = [
    headline(advice),
    '',
    ...table(advice),
    '',
    ...recommendationLines(advice, goals).map((line) => ` ${line}`),
    '',
    ...['Pool or sessions, and the cost of waits:', ...indented(waitLines(advice))],
    ...['Cost of retries:', ...indented([retryLine(advice)])],
    ...[
      'What slows the suite down:',
      ...indented([...boundLines(advice), ...parallelLine(advice), ...shardLine(advice)]),
    ],
    ...(notes.length > 0 ? ['Taken for granted:', ...indented(notes)] : []),
  ];
  return lines.map(printable);
}

function indented(lines: readonly string[]): string[] {
  return lines.map((line) => `  ${line}`);
}

function headline({ suite, runs }: Advice): string {
  const from = runs.map(({ workers, shards, wallMs }) => {
    const sharded = shards > 1 ? ` in ${many(shards, 'shard')}` : '';
    return `${duration(wallMs)} with ${many(workers, 'worker')}${sharded}`;
  });
  const shown = from.length > 4 ? [...from.slice(-4), `${from.length - 4} earlier`] : from;
  return `poolwright: ${many(suite.tests, 'test')} in ${many(suite.groups, 'group')}, from ${many(runs.length, 'run')}: ${shown.join('; ')}`;
}

function table({ choices, recommended }: Advice): string[] {
  const priced = choices.some(({ cost }) => cost !== null);
  const rows = choices.map((choice) => ({
    browsers: choice.browsers,
    shards: choice.shards,
    'workers each': choice.workers,
    'time, median': duration(choice.medianMs),
    'time, p90': duration(choice.p90Ms),
    'browser-minutes': (choice.browserMs / 60_000).toFixed(1),
    ...(choice.cost === null ? {} : { cost: money(choice.cost) }),
    '': choice === recommended?.choice ? '←' : '',
  }));
  const columns = ['browsers', 'shards', 'workers each', 'time, median', 'time, p90', 'browser-minutes'];
  return tableLines(rows, [...columns, ...(priced ? ['cost'] : []), '']);
}

function recommendationLines({ recommended }: Advice, goals: Goals): string[] {
  if (!recommended) return [`No option is possible: ${limitText(goals)}.`];
  const { choice, fits } = recommended;
  const lines = [`Recommended: ${many(choice.browsers, 'browser')}, ${commandOf(choice)}`, `  ${figuresOf(choice)}`];
  if (!fits) lines.unshift(`No row ${wantedText(goals)}. The closest one:`);
  return lines;
}

function limitText({ shards = 1, limit, browsers }: Goals): string {
  const most = Math.min(limit ?? Number.POSITIVE_INFINITY, browsers ?? Number.POSITIVE_INFINITY);
  return `${many(most, 'browser')} at once are not enough for ${many(shards, 'shard')}`;
}

function wantedText({ timeMs, cost }: Goals): string {
  return timeMs === undefined ? `costs ${money(cost ?? 0)} or less` : `ends within ${duration(timeMs)} in 9 of 10 runs`;
}

function commandOf({ workers, shards }: Choice): string {
  const flags = `--workers=${workers}`;
  return shards > 1 ? `${flags} --shard=1/${shards}, and so on` : flags;
}

function figuresOf({ medianMs, p90Ms, browserMs, cost }: Choice): string {
  const parts = [
    `${duration(medianMs)} in the median`,
    `${duration(p90Ms)} or less in 9 of 10 runs`,
    `${(browserMs / 60_000).toFixed(1)} browser-minutes`,
    ...(cost === null ? [] : [`cost ${money(cost)}`]),
  ];
  return parts.join(', ');
}

function money(amount: number): string {
  return amount >= 100 ? amount.toFixed(0) : amount >= 1 ? amount.toFixed(2) : amount.toPrecision(2);
}
