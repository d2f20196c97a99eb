import { cpus } from 'node:os';
import { stripVTControlCharacters } from 'node:util';

/** The page about the random runs of a set, from the lines that each run left (`ChaosResult`). */

const KINDS = {
  stub: 'stub browsers',
  chromium: 'real Chromium',
  provider: "a user's provider",
  addresses: 'addresses',
};

/** The command for so many runs of each kind. */
export function commandOf({ stub = 0, chromium = 0, provider = 0, addresses = 0 }) {
  return `node scripts/faults.mjs ${stub} --real ${chromium} --provider ${provider} --addresses ${addresses}`;
}

/** Names a run of the set. */
export const nameOf = ({ kind, run }) => `${kind}-${run}`;

/** The newest result of each run. */
export function latestOf(results) {
  return [...new Map(results.map((result) => [nameOf(result), result])).values()];
}

const total = (list) => list.reduce((sum, each) => sum + each, 0);
const duration = (ms) => (ms < 120_000 ? `${Math.round(ms / 1000)} s` : `${Math.round(ms / 60_000)} min`);

/** The value that this share of a sorted list is not above. */
function quantile(sorted, share) {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

function table(head, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

function kindRow(kind, results, seed) {
  const times = results.map(({ ms }) => ms).sort((a, b) => a - b);
  return [
    KINDS[kind],
    latestOf(results).length,
    results.length,
    seed,
    results.filter(({ ok }) => !ok).length,
    total(results.map(({ left }) => left.length)),
    total(results.map(({ touched }) => touched.length)),
    duration(spanOf(results)),
    `${duration(quantile(times, 0.5))} / ${duration(quantile(times, 0.95))} / ${duration(times.at(-1) ?? 0)}`,
  ];
}

/** How often each trait was in a run of each kind; a blow counts when it struck. */
function traitRows(results) {
  const counts = new Map();
  for (const { kind, traits, struck, blow } of results) {
    for (const trait of [...traits, ...(struck ? [blow] : [])]) {
      const count = counts.get(trait) ?? Object.fromEntries(Object.keys(KINDS).map((each) => [each, 0]));
      count[kind] += 1;
      counts.set(trait, count);
    }
  }
  return [...counts].sort(([a], [b]) => a.localeCompare(b, 'en')).map(([trait, of]) => [trait, ...Object.values(of)]);
}

/** @param results all of the set: a red one stays here, with what later results of the same run were */
function redRow({ kind, run, setSeed, commit, at, traits, blow, struck, left, touched, error }, results) {
  const cause = [...left, ...touched].join('; ') || (error ?? '');
  const later = results.filter((each) => nameOf(each) === nameOf({ kind, run }) && each.at > at);
  return [
    `\`CHAOS_SEED=${setSeed} ${commandOf({ [kind]: run })} --only ${run}\``,
    commit,
    [...traits, ...(struck ? [blow] : [])].join(', '),
    stripVTControlCharacters(cause).replaceAll(/\s+/g, ' ').slice(0, 200).replaceAll('|', '\\|'),
    later.map((each) => `${each.ok ? 'green' : 'red'} at ${each.commit}`).join(', ') || 'no',
  ];
}

/** Which commits were tested, and how often. */
function commitsOf(results) {
  const counts = new Map();
  for (const { commit } of results) counts.set(commit, (counts.get(commit) ?? 0) + 1);
  if (counts.size === 1) return `commit ${[...counts.keys()][0]}`;
  return `${counts.size} states of the code: ${[...counts].map(([commit, count]) => `${commit} (${count} results)`).join(', ')}. "dirty" has changes that are in no commit`;
}

const day = (ms) => new Date(ms).toISOString().slice(0, 10);

/** The first and the last day. */
function daysOf(results) {
  const times = results.map(({ at }) => at);
  return [...new Set([day(Math.min(...times)), day(Math.max(...times))])].join(' to ');
}

/** When runs of the set were judged; empty for results that do not say it. */
function judgedOf(results) {
  const known = results.filter(({ judged }) => judged !== undefined);
  const swept = known.filter(({ judged }) => judged === 'after poolwright sweep').length;
  return known.length === 0 ? '' : ` ${swept} of ${known.length} results were judged after a sweep.`;
}

/** How long runs went on, in ms: side by side counts once, and not the time between two goes at a set. */
function spanOf(results) {
  let span = 0;
  let until = 0;
  for (const { at, ms } of results.toSorted((a, b) => a.at - b.at)) {
    span += Math.max(0, at + ms - Math.max(at, until));
    until = Math.max(until, at + ms);
  }
  return span;
}

/** The whole page. */
export function reliabilityPage({ results, command, seed, asked }) {
  const kinds = Object.keys(KINDS).filter((kind) => results.some((each) => each.kind === kind));
  const ofKind = (kind) => results.filter((each) => each.kind === kind);
  const red = results.filter(({ ok }) => !ok);
  const heads = [
    'browsers',
    'runs',
    'results',
    'seed',
    'failed',
    'left',
    "others' touched",
    'time',
    'per run (median / p95 / longest)',
  ];
  return `# Reliability

Made with \`${command} --write\`: short suites under the real \`playwright test\`, each with
random faults: broken responses of the service, signals to runner, worker, broker and service, full disks, slow connections, wrong
clocks, a second run in the same directory. The workspace also holds sessions and pools that belong to others.

When a run has ended, none of its sessions, leases, pools, ledgers, processes or directories may be left. After the death of a whole
machine (runner, workers and broker), and of the service, this is judged once \`poolwright sweep\` has run there, and without a ledger once
\`poolwright sweep --run\` has. What belongs to others must be unchanged, and the run must have ended within its time limit.${judgedOf(results)}

${table(
  heads,
  kinds.map((kind) => kindRow(kind, ofKind(kind), seed)),
)}

${latestOf(results).length} of the ${total(Object.values(asked))} runs of the set, ${daysOf(results)}, on ${cpus().length} cores, Node ${process.version}, of ${commitsOf(results)}.
Every result counts, also that of a run that was repeated: ${results.length} results, ${red.length} of them red${red.length === 0 ? '.' : ':'}
${
  red.length === 0
    ? ''
    : `\n${table(
        ['repeat it alone', 'commit', 'contents', 'cause', 'run again'],
        red.map((each) => redRow(each, results)),
      )}\n`
}
## What was in the runs

A signal counts only if the process was still running. \`pause\` is SIGSTOP, then SIGCONT after up to 5 s; \`pause-kill\` ends with SIGKILL
instead. \`terminal\` means runner and workers, \`machine\` these and the broker, \`module\` the process of a provider.

${table(['', ...Object.values(KINDS)], traitRows(results))}
`;
}
