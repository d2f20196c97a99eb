import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { main, playwrightTest } from './playwright.mjs';

/**
 * `node scripts/coverage.mjs FILE [arguments of playwright test]` writes which functions of `src` the run's tests
 * execute, file by file. `node scripts/coverage.mjs --compare BEFORE AFTER` lists those that are not executed any more.
 * For projects that run on the sources: `--project=unit --project=cdp`, for example. Functions go by name, so that two
 * states of the sources can be compared.
 */

const SOURCES = new URL('../src/', import.meta.url).href;

await main(async () => {
  const [file, ...args] = process.argv.slice(2);
  if (file === undefined) throw new Error('usage: node scripts/coverage.mjs FILE [arguments] | --compare BEFORE AFTER');
  return file === '--compare' ? compare(...args) : await measure(file, args);
});

async function measure(file, args) {
  const directory = mkdtempSync(join(tmpdir(), 'coverage-'));
  try {
    const code = await playwrightTest(args, { NODE_V8_COVERAGE: directory });
    const executed = new Map();
    for (const name of readdirSync(directory))
      add(executed, JSON.parse(readFileSync(join(directory, name), 'utf8')).result);
    const sorted = [...executed].sort(([a], [b]) => (a < b ? -1 : 1)).map(([path, names]) => [path, [...names].sort()]);
    writeFileSync(file, `${JSON.stringify(Object.fromEntries(sorted), null, 1)}\n`);
    console.log(`${sorted.length} files of src, ${sorted.flatMap(([, names]) => names).length} functions: ${file}`);
    return code;
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/**
 * Adds the named functions that one process has executed. Modules of Playwright's workers go by path, others by
 * address.
 */
function add(executed, scripts) {
  for (const { url, functions } of scripts) {
    const address = url.startsWith('/') ? new URL(`file://${url}`).href : url;
    if (!address.startsWith(SOURCES)) continue;
    const path = fileURLToPath(address).slice(fileURLToPath(SOURCES).length).replaceAll('\\', '/');
    const names = executed.get(path) ?? new Set();
    for (const { functionName, ranges } of functions)
      if (functionName !== '' && ranges[0].count > 0) names.add(functionName);
    executed.set(path, names);
  }
}

/** Exit code 1 when something was lost. */
function compare(before, after) {
  const [old, now] = [before, after].map((file) => JSON.parse(readFileSync(file, 'utf8')));
  const lost = Object.entries(old).flatMap(([path, names]) =>
    names.filter((name) => !now[path]?.includes(name)).map((name) => `${path}: ${name}`),
  );
  console.log(lost.length === 0 ? 'Nothing is lost.' : `Not executed any more:\n${lost.join('\n')}`);
  return lost.length === 0 ? 0 : 1;
}
