import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { commandOf, reliabilityPage } from './faults-report.mjs';
import { main, playwrightTest } from './playwright.mjs';
import { setUp } from './set-up.mjs';

/**
 * `node scripts/faults.mjs 1000 --real 200`: the fault suite, with so many random runs on stub browsers (200 unless
 * given), on real ones (20) and on those of a user's provider (20, or `--provider 50`). They are those of CHAOS_SEED, a
 * new one unless given.
 *   --only 17   that run alone (`0 --real 17 --provider 0 --only 17`: a real one)
 *   --resume    goes on with the set of this CHAOS_SEED where it was broken off, and does the red ones again
 *   --write     writes bench/results/reliability.md, which says how much of the set was run
 * What comes after `--` goes to Playwright Test.
 */

const PAGE = join('bench', 'results', 'reliability.md');
/** A line a run; committed, so that a set can be gone on with on another machine. */
const RESULTS = join('test', 'faults', 'results');

/** Results so far, of the runs that are asked for; the newest of each. */
function resultsIn(file, asked) {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  const newest = new Map(lines.map((line) => JSON.parse(line)).map((result) => [nameOf(result), result]));
  return [...newest.values()].filter(({ kind, run }) => run <= asked[kind]);
}

/** What is tested, for the results. */
function commit() {
  const { stdout } = spawnSync('git', ['describe', '--always', '--dirty'], { encoding: 'utf8' });
  return stdout.trim();
}

const nameOf = ({ kind, run }) => `${kind}-${run}`;

function countOf(text, what) {
  if (!/^\d+$/.test(text)) throw new Error(`${what}: a whole number is wanted, not "${text}".`);
  return Number(text);
}

await main(async () => {
  const argv = process.argv.slice(2);
  const end = argv.indexOf('--');
  const { values, positionals } = parseArgs({
    args: end === -1 ? argv : argv.slice(0, end),
    allowPositionals: true,
    options: {
      real: { type: 'string', default: '20' },
      provider: { type: 'string', default: '20' },
      only: { type: 'string' },
      resume: { type: 'boolean', default: false },
      write: { type: 'boolean', default: false },
    },
  });
  const asked = {
    stub: countOf(positionals[0] ?? '200', 'How many runs'),
    chromium: countOf(values.real, '--real'),
    provider: countOf(values.provider, '--provider'),
  };
  const all = commandOf(asked);
  const seed = process.env.CHAOS_SEED ?? String(Math.floor(Math.random() * 100_000));
  const file = join(RESULTS, `${seed}.jsonl`);
  if (!values.resume && values.only === undefined) rmSync(file, { force: true });
  const done = values.resume ? resultsIn(file, asked).filter(({ ok }) => ok) : [];
  console.log(
    `CHAOS_SEED=${seed}: ${asked.stub} runs on stub browsers, ${asked.chromium} on Chromium, ${asked.provider} on a provider`,
  );
  if (done.length > 0) console.log(`${done.length} of them were green before`);
  await setUp();
  const only =
    values.only === undefined
      ? []
      : ['-g', `chaos run ${countOf(values.only, '--only')} (on (Chromium|a provider) )?of `];
  const code = await playwrightTest(['--project=faults', ...only, ...(end === -1 ? [] : argv.slice(end + 1))], {
    CHAOS_SEED: seed,
    CHAOS_RUNS: String(asked.stub),
    CHAOS_REAL: String(asked.chromium),
    CHAOS_PROVIDER: String(asked.provider),
    CHAOS_DONE: done.map(nameOf).join(),
    CHAOS_RESULTS: file,
    CHAOS_COMMIT: commit(),
  });
  if (values.only !== undefined) return code;
  const results = resultsIn(file, asked);
  const page = reliabilityPage({ results, command: `CHAOS_SEED=${seed} ${all}`, seed, asked });
  console.log(`\n${page}`);
  if (results.length < asked.stub + asked.chromium + asked.provider) {
    console.log(`Not the whole set: CHAOS_SEED=${seed} ${all} --resume`);
  }
  if (values.write) writeFileSync(PAGE, page);
  return code;
});
