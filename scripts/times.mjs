import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

/**
 * `node scripts/times.mjs [results.json]`: where the time of a test run went, from Playwright's JSON report. Workers
 * run side by side, so that the tests' own times add up to more than the run took.
 */

const LONGEST = 10;

/** Every try of every test: project, file, when it began (ms) and how long it took (ms). */
function tries(suite, found = []) {
  for (const spec of suite.specs ?? []) {
    for (const { projectName: project, results } of spec.tests) {
      for (const { startTime, duration } of results) {
        found.push({ project, file: spec.file, began: Date.parse(startTime), duration });
      }
    }
  }
  for (const inner of suite.suites ?? []) tries(inner, found);
  return found;
}

function grouped(list, keyOf) {
  const groups = new Map();
  for (const each of list) groups.set(keyOf(each), [...(groups.get(keyOf(each)) ?? []), each]);
  return [...groups];
}

const seconds = (ms) => `${Math.round(ms / 1000)} s`;
const sum = (list) => list.reduce((total, { duration }) => total + duration, 0);

/** The table as text. */
export function timesTable(report) {
  const all = report.suites.flatMap((suite) => tries(suite));
  const rows = grouped(all, ({ project }) => project).map(([project, of]) => {
    const first = Math.min(...of.map(({ began }) => began));
    const last = Math.max(...of.map(({ began, duration }) => began + duration));
    return [project, String(of.length), seconds(sum(of)), seconds(last - first)];
  });
  const files = grouped(all, ({ project, file }) => `${project} ${file}`)
    .map(([name, of]) => [name, sum(of)])
    .sort(([, a], [, b]) => b - a)
    .slice(0, LONGEST);
  return [
    `Where the time went: ${seconds(report.stats.duration)} in all`,
    ...table([['project', 'tests', 'tests, added up', 'first to last'], ...rows]),
    `The ${files.length} longest files`,
    ...table(files.map(([name, duration]) => [name, seconds(duration)])),
  ].join('\n');
}

function table(rows) {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  const cell = (text, column) => (column === 0 ? text.padEnd(widths[column]) : text.padStart(widths[column]));
  return rows.map((row) => `  ${row.map(cell).join('  ')}`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const file = process.argv[2] ?? 'test-results/results.json';
  console.log(timesTable(JSON.parse(readFileSync(file, 'utf8'))));
}
