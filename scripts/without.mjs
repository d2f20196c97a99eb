import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, posix } from 'node:path';
import { main } from './playwright.mjs';

/**
 * `node scripts/without.mjs [NAME …]`: checks that a run can do without each feature that docs/architecture.md lists,
 * or those named. In a copy of the tree it deletes the feature's directories and lines, and those of features that need
 * it, and checks the types of the rest. With `--run`, it also builds the rest and runs its unit tests.
 *   --at-once   deletes all of them once, in a twelfth of the time. That finds the same but for what a feature imports
 *               from another one, for which it looks in their imports
 *
 * The tests of a feature go with it. These are files and directories of its name in `test`, and files that import from
 * these, from its directories, or what the package exports of it. All others must compile and pass.
 */

/** A row of the table: name, directories, the lists with a line of it, and the features that it needs. */
const ROW = /^\| `([\w-]+)` \| (`src\/.*?) \| (`.*?) \| (.*?)\|/gm;

/** Planted faults, with their files and the tests that find them. */
const FAULTS = 'test/mutants/list.json';

/** Not every feature has a line in these lists of what is built and checked. */
const BUILD = ['tsup.config.ts', 'scripts/types.mjs'];

await main(async () => {
  const args = process.argv.slice(2);
  const names = args.filter((arg) => !arg.startsWith('--'));
  const all = [...readFileSync('docs/architecture.md', 'utf8').matchAll(ROW)].map(
    ([, name, directories, lists, needs]) => ({
      name,
      directories: quoted(directories),
      lists: quoted(lists),
      needs: quoted(needs),
    }),
  );
  const unknown = names.find((name) => !all.some((feature) => feature.name === name));
  if (unknown !== undefined || all.length === 0) throw new Error(`docs/architecture.md lists no feature ${unknown}.`);
  const runs = args.includes('--run');
  if (args.includes('--at-once')) return (await check('all', all, runs)) || importsOfOthers(all);
  let failed = 0;
  for (const feature of all) {
    if (names.length > 0 && !names.includes(feature.name)) continue;
    const dependents = all.filter(({ needs }) => needs.includes(feature.name));
    failed += await check(feature.name, [feature, ...dependents], runs);
  }
  return failed > 0 ? 1 : 0;
});

/** Returns 1 if a feature imports from another one that it does not need. */
function importsOfOthers(all) {
  const wrong = all.flatMap(({ name, directories, needs }) => {
    const others = all.filter((other) => other.name !== name && !needs.includes(other.name));
    const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard', ...directories], { encoding: 'utf8' });
    return files.split('\n').flatMap((file) => {
      if (!file.endsWith('.ts') || !existsSync(file)) return [];
      return importedBy(file)
        .filter((path) => isIn(others, path))
        .map((path) => `${name}: ${file} imports ${path}`);
    });
  });
  for (const line of wrong) console.error(line);
  return wrong.length > 0 ? 1 : 0;
}

/** The files that a file imports by a relative path. */
function importedBy(file) {
  const imports = [...readFileSync(file, 'utf8').matchAll(/(?:from|import|require)\s*\(?'(\.[^']+)'/g)];
  return imports.map(([, path]) => posix.join(dirname(file), path));
}

/** Returns 1 if what is left does not pass. @param features those to delete */
async function check(name, features, runs) {
  const since = performance.now();
  const copy = mkdtempSync(join(tmpdir(), 'without-'));
  try {
    const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { encoding: 'utf8' }).split('\n');
    const files = listed.filter((file) => file !== '' && existsSync(file));
    const changed = withoutLines(features);
    const tests = files.filter((file) => isTestOf(features, changed.entries, file));
    for (const file of files) {
      if (isIn(features, file) || tests.includes(file)) continue;
      mkdirSync(join(copy, dirname(file)), { recursive: true });
      cpSync(file, join(copy, file));
    }
    for (const [file, text] of changed.files) writeFileSync(join(copy, file), text);
    // It names the test of each claim.
    const claims = readFileSync('SECURITY.md', 'utf8').split('\n');
    const kept = claims.filter((line) => !tests.some((file) => line.includes(file)));
    writeFileSync(join(copy, 'SECURITY.md'), kept.join('\n'));
    // So does the list of planted faults, and some are in the feature.
    const faults = JSON.parse(readFileSync(FAULTS, 'utf8'));
    const left = faults.filter(({ file, foundBy }) => !isIn(features, file) && !tests.includes(foundBy.spec));
    writeFileSync(join(copy, FAULTS), JSON.stringify(left));
    // What is built anew must not replace the original's.
    for (const path of ['node_modules', ...(runs ? [] : ['dist', 'examples/node_modules'])])
      if (existsSync(path)) symlinkSync(join(process.cwd(), path), join(copy, path));
    const build = ['scripts/build.mjs', 'scripts/types.mjs', 'scripts/test-unit.mjs'];
    for (const step of runs ? build : ['scripts/types.mjs']) {
      if ((await run(copy, step)) === 0) continue;
      console.error(`Without ${name}, ${step} fails.`);
      return 1;
    }
    const seconds = ((performance.now() - since) / 1000).toFixed(1);
    console.log(
      `without ${name.padEnd(10)} ${seconds.padStart(5)} s, and without these tests: ${tests.filter((file) => !file.startsWith('bench/')).join(' ')}`,
    );
    return 0;
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

function quoted(cell) {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, text]) => text);
}

function isIn(features, path) {
  return features.some(({ directories }) => directories.some((directory) => path.startsWith(`${directory}/`)));
}

function isTestOf(features, entries, file) {
  if (!/^(test|bench|examples)\//.test(file)) return false;
  // They measure most features.
  if (file.startsWith('bench/')) return true;
  const names = features.flatMap(({ name, directories }) => [name, ...directories.map((path) => basename(path))]);
  const isNamed = (path) => path.split('/').some((part) => names.includes(part.split('.')[0]));
  if (!file.startsWith('examples/') && isNamed(file)) return true;
  if (!/\.[cm]?[jt]s$/.test(file)) return false;
  const imports = [...readFileSync(file, 'utf8').matchAll(/(?:from|import|require)\s*\(?'([^']+)'/g)];
  // Tests of the package have the sources of other tests, as text.
  if (/^(examples|test\/types)\//.test(file)) return imports.some(([, path]) => entries.has(path));
  return importedBy(file).some((path) => isIn(features, path) || isNamed(path) || path.startsWith('bench/'));
}

/** The lists without the features, each of which has exactly one line in each of its lists of features. */
function withoutLines(features) {
  const files = new Map();
  const entries = new Set();
  for (const list of new Set([...features.flatMap(({ lists }) => lists), ...BUILD])) {
    const near = (directory) => `'${posix.relative(dirname(list), directory).replace(/^(?!\.)/, './')}/`;
    let lines = readFileSync(list, 'utf8').split('\n');
    for (const { name, directories, lists } of features) {
      const isOwn = (line) =>
        directories.some((directory) => [near(directory), `'${directory}`].some((path) => line.includes(path)));
      const own = lines.filter(isOwn);
      const isOne = BUILD.includes(list) ? own.length > 0 : own.length === 1;
      if (lists.includes(list) && !isOne) throw new Error(`${list} has ${own.length} lines of ${name}.`);
      lines = lines.filter((line) => !isOwn(line));
      for (const line of own) entries.add(/^\s*'?([\w-]+)'?: '/.exec(line)?.[1]);
    }
    // A module even without any feature.
    const isModule = lines.some((line) => /^(import|export) /.test(line));
    files.set(list, [...lines, ...(isModule || !list.endsWith('.ts') ? [] : ['export {};', ''])].join('\n'));
  }
  const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
  for (const [path, target] of Object.entries(manifest.exports)) {
    const isOwn = [...entries].some((entry) => JSON.stringify(target).includes(`./dist/${entry}.`));
    if (!isOwn) continue;
    delete manifest.exports[path];
    entries.add(posix.join(manifest.name, path));
  }
  files.set('package.json', JSON.stringify(manifest, null, 2));
  return { files, entries };
}

/** Returns the exit code, and prints only what has failed. */
async function run(cwd, script) {
  const child = spawn(process.execPath, [script], { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      printed += text;
    });
  }
  const [code] = await once(child, 'close');
  if (code !== 0) console.error(printed.slice(-8_000));
  return code;
}
