import { readFileSync, writeFileSync } from 'node:fs';
import { chooseChromium } from '../src/emulator/chromium/choose-chromium.ts';
import { findChromiums } from '../src/emulator/chromium/find-chromium.ts';
import { type BenchOptions, chosen, readOptions } from './options.ts';
import { type Entry, keep, newestEntries } from './report/history.ts';
import { commitOf, machineOf } from './report/machine.ts';
import { goalLine, performancePage } from './report/page.ts';
import { drawTable } from './report/table.ts';
import { SIDES } from './runs/run-suite.ts';
import type { Suite } from './suite.ts';
import { SUITES } from './suites.ts';

/** `npm run bench`: what poolwright costs, measured. See bench/README.md. */

const PAGE = 'bench/results/performance.md';

function help(): string {
  const suites = SUITES.map(({ name, title, rounds }) => `  ${name.padEnd(14)} ${title} (${rounds} rounds)`);
  return `npm run bench -- [options]
  --suite <names>  only these, with commas between; all unless given
  --side <names>   only these of the sides of real runs (and of distance: relay): ${SIDES.map(({ name }) => name).join(', ')}
  --rounds <n>     instead of each suite's own number; 1 shows that everything works, and is not kept
  --seed <n>       the order of the sides within a round is drawn from it; 1 unless given
  --json <file>    writes the results there
  --write          writes ${PAGE} from the newest results of each suite on this machine
Suites:
${suites.join('\n')}`;
}

/** A Ctrl-C reaches the runs that are measured, too; what they need is removed before the end. */
const interrupted = new AbortController();
process.on('SIGINT', () => interrupted.abort(new Error('interrupted')));

async function measure(
  suite: Suite,
  options: BenchOptions,
  common: Pick<Entry, 'commit' | 'machine'>,
  chromium: string,
) {
  const { seed, sides } = options;
  const rounds = options.rounds ?? suite.rounds;
  const { signal } = interrupted;
  console.log(`\n${suite.title} (${suite.name}), ${rounds === 1 ? '1 round' : `${rounds} rounds`}`);
  const progress = (text: string) => void (process.stderr.isTTY && process.stderr.write(`\r\x1b[K${text}`));
  const { samples, tables, goals } = await suite.run({ rounds, seed, sides, chromium, signal, progress });
  progress('');
  console.log([...tables.map(drawTable), ...goals.map(goalLine)].join('\n'));
  const at = new Date().toISOString();
  return { suite: suite.name, at, ...common, rounds, seed, tables, goals, samples: samples.toJSON() };
}

async function bench(options: BenchOptions): Promise<void> {
  const suites = chosen(SUITES, options.suites, '--suite');
  chosen(SIDES, options.sides, '--side'); // a name that none has is told before anything is measured
  const { path } = chooseChromium(await findChromiums(), null);
  const common = { commit: commitOf(), machine: machineOf(path) };
  const entries: Entry[] = [];
  for (const suite of suites) {
    const entry = await measure(suite, options, common, path);
    keep([entry]);
    entries.push(entry);
  }
  if (options.json !== null) writeFileSync(options.json, `${JSON.stringify(entries, null, 2)}\n`);
  if (options.write) {
    const readme = readFileSync('bench/README.md', 'utf8');
    writeFileSync(PAGE, performancePage(common.machine, SUITES, newestEntries(common.machine), readme));
  }
}

try {
  const options = readOptions(process.argv.slice(2));
  if (options.help) console.log(help());
  else await bench(options);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
