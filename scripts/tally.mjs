import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

/**
 * `node scripts/tally.mjs results.json …`: how many tests passed, failed and were skipped, in all runs together, from
 * Playwright's JSON reports. A flaky test counts as failed: flaky is broken. Reasons of skipped tests come first:
 *   --allow 'needs PID namespaces'  a reason that this machine may have; any other one counts as a failure
 * The last line is `N passed, N failed`, and `, N skipped` where some are.
 */

/** Every test that was skipped, by reason. */
function skippedIn(suite, reasons = new Map()) {
  for (const spec of suite.specs ?? []) {
    for (const { status, annotations } of spec.tests) {
      if (status !== 'skipped') continue;
      const reason = annotations.find(({ type }) => type === 'skip' || type === 'fixme')?.description ?? 'did not run';
      reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
    }
  }
  for (const inner of suite.suites ?? []) skippedIn(inner, reasons);
  return reasons;
}

/** Counts of several reports. */
export function tally(reports) {
  const counts = { passed: 0, failed: 0, reasons: new Map() };
  for (const { stats, suites, errors } of reports) {
    counts.passed += stats.expected;
    // An error outside of any test, as in a file that cannot be loaded.
    counts.failed += stats.unexpected + stats.flaky + (stats.unexpected === 0 ? errors.length : 0);
    for (const suite of suites) skippedIn(suite, counts.reasons);
  }
  return counts;
}

/** The last line, with the reasons of skipped tests in it. */
export function withReasons({ passed, failed, reasons }) {
  const skipped = [...reasons.values()].reduce((sum, count) => sum + count, 0);
  const list = [...reasons].map(([reason, count]) => `${count}: ${reason}`).join('; ');
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped (${list})` : ''}`;
}

export const read = (file) => JSON.parse(readFileSync(file, 'utf8'));

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const args = process.argv.slice(2);
  const allowed = args.flatMap((arg, index) => (args[index - 1] === '--allow' ? [arg] : []));
  const files = args.filter((arg, index) => arg !== '--allow' && args[index - 1] !== '--allow');
  const counts = tally(files.map(read));
  let { failed } = counts;
  for (const [reason, count] of counts.reasons) {
    const known = allowed.includes(reason);
    if (!known) failed += count;
    console.log(`skipped: ${count}: ${reason}${known ? '' : ' (not allowed here: counted as failed)'}`);
  }
  const skipped = [...counts.reasons.values()].reduce((sum, count) => sum + count, 0);
  console.log(`${counts.passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
  process.exitCode = failed === 0 && counts.passed > 0 ? 0 : 1;
}
