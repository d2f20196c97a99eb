import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

/**
 * `node scripts/skipped.mjs [--allow "needs root"]… [results.json]…`: prints how many tests Playwright's JSON reports
 * say were skipped, by reason. With `--allow`, any other reason is an error; `--allow none` allows no reason.
 */

/** Every skipped test of a report's suite, by its reason (test/support/requires.ts). */
function skippedIn(suite) {
  const tests = (suite.specs ?? []).flatMap((spec) => spec.tests);
  return [
    ...tests
      .filter(({ status }) => status === 'skipped')
      .map(({ annotations }) => annotations.find(({ type }) => type === 'skip')?.description ?? 'no reason'),
    ...(suite.suites ?? []).flatMap(skippedIn),
  ];
}

/**
 * Counts the skipped tests of one or more reports.
 * @param reports Playwright's JSON reports, parsed
 * @returns `line`: "3 skipped (2 needs unshare, 1 needs root)", empty without any; `reasons`: a Map of their counts
 */
export function countSkipped(reports) {
  const all = reports.flatMap(({ suites }) => suites).flatMap(skippedIn);
  const reasons = new Map();
  for (const reason of all) reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  const counts = [...reasons].sort(([, a], [, b]) => b - a).map(([reason, count]) => `${count} ${reason}`);
  return { line: counts.length === 0 ? '' : `${all.length} skipped (${counts.join(', ')})`, reasons };
}

/** Returns the reasons that are not in the list; of a test that was skipped in any other way: "no reason". */
export function unexpectedReasons(reasons, allowed) {
  return [...reasons.keys()].filter((reason) => !allowed.includes(reason));
}

function main(args) {
  const allowed = [];
  const files = [];
  for (let at = 0; at < args.length; at += 1) {
    if (args[at] === '--allow') allowed.push(args[++at]);
    else files.push(args[at]);
  }
  const reports = (files.length > 0 ? files : ['test-results/results.json']).map((file) =>
    JSON.parse(readFileSync(file, 'utf8')),
  );
  const { line, reasons } = countSkipped(reports);
  console.log(line || 'none skipped');
  const unexpected = allowed.length > 0 ? unexpectedReasons(reasons, allowed) : [];
  if (unexpected.length > 0) console.error(`Skipped for reasons that are not allowed here: ${unexpected.join(', ')}`);
  return unexpected.length > 0 ? 1 : 0;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) process.exitCode = main(process.argv.slice(2));
