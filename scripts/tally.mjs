import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

/**
 * `node scripts/tally.mjs [--allow "needs root"]… results.json …`: how many tests passed, failed and were skipped, from
 * Playwright's JSON reports, added up. Skipped tests come first, by their reasons: with `--allow`, one that is skipped
 * for another reason counts as failed (`--allow none` allows no reason). The last line is `N passed, N failed`, and
 * `, N skipped` where some are.
 */

/** The reason of every skipped test of a report's suite (test/support/requires.ts). */
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
 * Counts the tests of one or more reports. A flaky test counts as failed: flaky is broken.
 * @param reports Playwright's JSON reports, parsed
 * @returns `passed`, `failed`, `skipped`: numbers of tests; `reasons`: a Map from reason to number, the most first
 */
export function tally(reports) {
  const sum = (count) => reports.reduce((total, report) => total + count(report), 0);
  const all = reports.flatMap(({ suites }) => suites).flatMap(skippedIn);
  const reasons = new Map();
  for (const reason of all) reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  return {
    passed: sum(({ stats }) => stats.expected),
    // An error of no test, as of a file that cannot be loaded.
    failed: sum(({ stats, errors }) => stats.unexpected + stats.flaky || errors.length),
    skipped: all.length,
    reasons: new Map([...reasons].sort(([, a], [, b]) => b - a)),
  };
}

/** `12 passed, 0 failed, 3 skipped (2 needs unshare, 1 needs root)`. */
export function tallyLine({ passed, failed, skipped, reasons }) {
  const list = [...reasons].map(([reason, count]) => `${count} ${reason}`).join(', ');
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped (${list})` : ''}`;
}

/** Returns the reasons that are not in the list; of a test that was skipped in any other way: "no reason". */
export function unexpectedReasons(reasons, allowed) {
  return [...reasons.keys()].filter((reason) => !allowed.includes(reason));
}

export const readReport = (file) => JSON.parse(readFileSync(file, 'utf8'));

function main(args) {
  const allowed = [];
  const files = [];
  for (let at = 0; at < args.length; at += 1) {
    if (args[at] === '--allow') allowed.push(args[++at]);
    else files.push(args[at]);
  }
  const { passed, failed, skipped, reasons } = tally(files.map(readReport));
  const unexpected = allowed.length > 0 ? unexpectedReasons(reasons, allowed) : [];
  for (const [reason, count] of reasons) {
    console.log(`skipped: ${count} ${reason}${unexpected.includes(reason) ? ', which counts as failed here' : ''}`);
  }
  const all = unexpected.reduce((sum, reason) => sum + reasons.get(reason), failed);
  console.log(`${passed} passed, ${all} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
  return all === 0 && passed > 0 ? 0 : 1;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) process.exitCode = main(process.argv.slice(2));
