import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { commandOf, latestOf, nameOf, reliabilityPage } from './faults-report.mjs';
import { main, playwrightTest } from './playwright.mjs';
import { setUp } from './set-up.mjs';

/**
 * `node scripts/faults.mjs 1000 --real 200`: the fault suite, with so many random runs on stub browsers (200 unless
 * given), on real ones (20), on those of a user's provider (20, or `--provider 50`) and on addresses of browsers that
 * run already (20, or `--addresses 50`). They are those of CHAOS_SEED, a new one unless given.
 *   --only 17   that run alone (`0 --real 17 --provider 0 --addresses 0 --only 17`: a real one)
 *   --resume    goes on with the set of this CHAOS_SEED where it was broken off, and does the red ones again; on the
 *               same commit only. Red results stay in the file and on the page, also when a later one is green
 *   --write     writes bench/results/reliability.md, which shows every result; on a clean commit only
 *   --page      only writes it, from the results that are there
 * What comes after `--` goes to Playwright Test.
 */

const PAGE = join('bench', 'results', 'reliability.md');
/** A line a run; committed, so that a set can be gone on with on another machine. */
const RESULTS = join('test', 'faults', 'results');

/** All results so far of the runs that are asked for. */
function resultsIn(file, asked) {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  return lines.map((line) => JSON.parse(line)).filter(({ kind, run }) => run <= asked[kind]);
}

/** What is tested, for the results. */
function commit() {
  const { stdout } = spawnSync('git', ['describe', '--always', '--dirty'], { encoding: 'utf8' });
  return stdout.trim();
}

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
      addresses: { type: 'string', default: '20' },
      only: { type: 'string' },
      resume: { type: 'boolean', default: false },
      write: { type: 'boolean', default: false },
      page: { type: 'boolean', default: false },
    },
  });
  const asked = {
    stub: countOf(positionals[0] ?? '200', 'How many runs'),
    chromium: countOf(values.real, '--real'),
    provider: countOf(values.provider, '--provider'),
    addresses: countOf(values.addresses, '--addresses'),
  };
  const all = commandOf(asked);
  const seed = process.env.CHAOS_SEED ?? String(Math.floor(Math.random() * 100_000));
  const file = join(RESULTS, `${seed}.jsonl`);
  const pageOf = (results) => reliabilityPage({ results, command: `CHAOS_SEED=${seed} ${all}`, seed, asked });
  if (values.page) {
    writeFileSync(PAGE, pageOf(resultsIn(file, asked)));
    return 0;
  }
  const tested = commit();
  if (values.write && tested.endsWith('-dirty')) throw new Error('--write needs a commit: there are changes.');
  if (!values.resume && values.only === undefined) rmSync(file, { force: true });
  const before = values.resume ? resultsIn(file, asked) : [];
  const other = before.find((result) => result.commit !== tested);
  if (other) throw new Error(`--resume: ${file} is about commit ${other.commit}, not ${tested}. Begin a new set.`);
  const done = latestOf(before).filter(({ ok }) => ok);
  console.log(
    `CHAOS_SEED=${seed}: ${asked.stub} runs on stub browsers, ${asked.chromium} on Chromium, ${asked.provider} on a provider, ${asked.addresses} on addresses`,
  );
  if (done.length > 0) console.log(`${done.length} of them were green before`);
  await setUp();
  const only =
    values.only === undefined
      ? []
      : ['-g', `chaos run ${countOf(values.only, '--only')} (on (Chromium|a provider|addresses) )?of `];
  const code = await playwrightTest(['--project=faults', ...only, ...(end === -1 ? [] : argv.slice(end + 1))], {
    CHAOS_SEED: seed,
    CHAOS_RUNS: String(asked.stub),
    CHAOS_REAL: String(asked.chromium),
    CHAOS_PROVIDER: String(asked.provider),
    CHAOS_ADDRESSES: String(asked.addresses),
    CHAOS_DONE: done.map(nameOf).join(),
    // A red run that is looked into alone does not count.
    CHAOS_RESULTS: values.only === undefined ? file : '',
    CHAOS_COMMIT: tested,
  });
  if (values.only !== undefined) return code;
  const results = resultsIn(file, asked);
  const page = pageOf(results);
  console.log(`\n${page}`);
  if (latestOf(results).length < Object.values(asked).reduce((sum, each) => sum + each)) {
    console.log(`Not the whole set: CHAOS_SEED=${seed} ${all} --resume`);
  }
  if (values.write) writeFileSync(PAGE, page);
  return code;
});
