import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, posix } from 'node:path';
import { main } from './playwright.mjs';

/**
 * `node scripts/without.mjs [NAME …]`: checks that a run can do without each feature that docs/architecture.md lists,
 * or those named. In a copy of the tree it deletes the feature's directory and its line, and checks the types of the
 * rest. With `--run`, it also builds the rest and runs its unit tests.
 *
 * The tests of a feature go with it. These are the files in `test` with its name, those in a directory of its name, and
 * those that import from its directory. All others must compile and pass.
 */

const LISTED = /^\| `(\S+)` \| `(src\/\S+)` \| `(\S+)` \|/gm;

/** The features of docs/architecture.md. */
function features() {
  const page = readFileSync('docs/architecture.md', 'utf8');
  return [...page.matchAll(LISTED)].map(([, name, directory, list]) => ({ name, directory, list }));
}

/** Other lists of files: what is built, and what is checked by itself. Not every feature has a line in each of them. */
const BUILD = ['tsup.config.ts', 'scripts/types.mjs'];

await main(async () => {
  const args = process.argv.slice(2);
  const [names, all] = [args.filter((arg) => !arg.startsWith('--')), features()];
  const unknown = names.find((name) => !all.some((feature) => feature.name === name));
  if (unknown !== undefined) throw new Error(`docs/architecture.md lists no feature ${unknown}.`);
  let failed = 0;
  for (const feature of all) {
    if (names.length === 0 || names.includes(feature.name)) failed += await check(feature, args.includes('--run'));
  }
  return failed;
});

/** Returns 1 if what is left does not pass. */
async function check(feature, runs) {
  const since = performance.now();
  const copy = mkdtempSync(join(tmpdir(), 'without-'));
  try {
    const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { encoding: 'utf8' }).split('\n');
    const present = files.filter((file) => file !== '' && existsSync(file));
    const inDirectory = (file) => file.startsWith(`${feature.directory}/`);
    const tests = present.filter((file) => isTestOf(feature, file));
    for (const file of present) {
      if (inDirectory(file) || tests.includes(file)) continue;
      mkdirSync(join(copy, dirname(file)), { recursive: true });
      cpSync(file, join(copy, file));
    }
    for (const list of new Set([feature.list, ...BUILD])) removeLines(copy, list, feature);
    for (const path of ['node_modules', 'dist', 'examples/node_modules']) {
      if (existsSync(path) && (path !== 'dist' || !runs)) symlinkSync(join(process.cwd(), path), join(copy, path));
    }
    const steps = ['scripts/types.mjs', ...(runs ? ['scripts/build.mjs', 'scripts/test-unit.mjs'] : [])];
    for (const step of steps) {
      const code = await run(copy, step);
      if (code !== 0) {
        console.error(`Without ${feature.name}, ${step} fails.`);
        return 1;
      }
    }
    const seconds = ((performance.now() - since) / 1000).toFixed(1);
    console.log(`${feature.name.padEnd(12)} ${seconds.padStart(5)} s  without ${tests.length} of its tests`);
    return 0;
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

function isTestOf({ name, directory }, file) {
  if (!/^(test|bench|sim|compat)\//.test(file)) return false;
  const parts = file.split('/');
  if (parts.includes(name) || basename(file).split('.')[0] === name) return true;
  if (!/\.m?ts$/.test(file)) return false;
  const imports = readFileSync(file, 'utf8').matchAll(/(?:from|import)\s*\(?'(\.[^']+)'/g);
  return [...imports].some(([, path]) => posix.join(dirname(file), path).startsWith(`${directory}/`));
}

/** In its own list, a feature has exactly one line. */
function removeLines(copy, list, { name, directory, list: own }) {
  const near = `'./${posix.relative(dirname(list), directory)}/`;
  const lines = readFileSync(list, 'utf8').split('\n');
  const kept = lines.filter((line) => !line.includes(near) && !new RegExp(`'${directory}[/']`).test(line));
  const removed = lines.length - kept.length;
  if (list === own && removed !== 1) throw new Error(`${list} has ${removed} lines of ${name}, and not one.`);
  writeFileSync(join(copy, list), kept.join('\n'));
}

async function run(cwd, script) {
  const child = spawn(process.execPath, [script], { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      printed += text;
    });
  }
  const [code] = await once(child, 'close');
  if (code !== 0) console.error(printed);
  return code;
}
