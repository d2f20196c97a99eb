import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { main } from './playwright.mjs';

/**
 * `node scripts/mutants.mjs [NAME …]`: whether the tests find the planted faults of test/mutants/list.json, all or
 * those named. It applies one at a time to a copy of the tree and runs the test that is known to find it: in the first
 * gear of the tests, and if that has no such test, in all tests. A fault that its test does not find gets all tests of
 * the gear, up to the first one that fails.
 *   --gear first   only what `npm test` runs; `all`: only everything
 *   --finders      only the tests that are known to find the faults, which may count too few; says how long each takes
 *   --write        writes the results into test/mutants/README.md
 * Each test must pass without the fault. Fails if the first gear finds fewer than 34 of 40, or all tests do not find
 * each.
 */

const LIST = join('test', 'mutants', 'list.json');
const PAGE = join('test', 'mutants', 'README.md');
/** It checks the list, and would find every fault. */
const OF_LIST = 'test/unit/mutants.spec.ts';
const MARKS = ['<!-- results -->', '<!-- /results -->'];
/** How many faults there must be at least, and how many of 40 the first gear must find. */
const LEAST = 40;
const FIRST = 34;
/** Projects that run what was built. */
const ON_BUILD = new Set(['built-cjs', 'built-esm', 'e2e', 'faults', 'package']);
/** Time limits, in ms: of a build, of a test, of all of these, of the gears. */
const LIMITS = { build: 600_000, finder: 900_000, clean: 3_600_000, first: 1_800_000, all: 7_200_000 };
const PLAYWRIGHT = 'node_modules/@playwright/test/cli.js';
const PARTS = `
  const { ensurePages } = await import('./scripts/pages.mjs');
  const { ensureOptions } = await import('./scripts/options.mjs');
  await Promise.all([ensurePages(), ensureOptions()]);`;
/** How long a process that is ended may take for that, in ms. */
const END_MS = 30_000;

/** The child that runs now: it ends with this process. */
let running = null;
let isInterrupted = false;

/** @param names default: all */
function chosen(names) {
  const all = JSON.parse(readFileSync(LIST, 'utf8'));
  const unknown = names.find((name) => !all.some((fault) => fault.name === name));
  if (unknown !== undefined) throw new Error(`${LIST} has no fault "${unknown}".`);
  if (all.length < LEAST) throw new Error(`${LIST} has ${all.length} faults; at least ${LEAST} are needed.`);
  return names.length === 0 ? all : all.filter(({ name }) => names.includes(name));
}

/** A copy of the tree, with at most one fault in it. */
class Copy {
  #path = mkdtempSync(join(tmpdir(), 'mutants-'));
  #isBuilt = false;

  constructor() {
    const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { encoding: 'utf8' }).split('\n');
    for (const file of listed) {
      if (file === '' || file === OF_LIST || !existsSync(file)) continue;
      mkdirSync(join(this.#path, dirname(file)), { recursive: true });
      cpSync(file, join(this.#path, file), { preserveTimestamps: true });
    }
    for (const path of ['node_modules', 'test/e2e/playwright-1.48/node_modules'])
      if (existsSync(path)) symlinkSync(join(process.cwd(), path), join(this.#path, path));
  }

  remove() {
    rmSync(this.#path, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }

  /** Does work on a copy with a fault. @throws Error if the fault cannot be applied */
  async with({ name, file, find, replace }, work) {
    const path = join(this.#path, file);
    const before = readFileSync(path, 'utf8');
    const places = before.split(find).length - 1;
    if (places !== 1) throw new Error(`The fault "${name}" is at ${places} places of ${file}: correct ${LIST}.`);
    writeFileSync(
      path,
      before.replace(find, () => replace),
    );
    this.#isBuilt = false;
    try {
      return await work();
    } finally {
      writeFileSync(path, before);
      this.#isBuilt = false;
    }
  }

  /**
   * Runs tests of a gear: those that are known to find faults, or all up to the first failure.
   * @param finders null: all
   * @returns the names of those that ran and of those that failed, and how long it took, in seconds
   */
  async run(finders, gear, limitMs = LIMITS[gear]) {
    const since = performance.now();
    const needsBuild = finders === null || finders.some(({ project }) => ON_BUILD.has(project));
    const failure = needsBuild ? await this.#build() : null;
    if (failure !== null) return { ran: [], failed: [`the build: ${failure}`], seconds: secondsSince(since) };
    // Tests of the sources need these alone; a build may have made them with another fault.
    await this.#script(['--input-type=module', '--eval', PARTS], LIMITS.build);
    const report = join(this.#path, 'mutants-report.json');
    rmSync(report, { force: true });
    const args = finders === null ? ['--max-failures=1'] : argumentsFor(finders);
    const env = { POOLWRIGHT_GEAR: gear, PLAYWRIGHT_JSON_OUTPUT_NAME: report };
    const { isLate, output } = await this.#script([PLAYWRIGHT, 'test', '--reporter=json', ...args], limitMs, env);
    const late = `tests that did not end within ${limitMs / 60_000} minutes`;
    if (isLate) return { ran: [], failed: [late], seconds: secondsSince(since) };
    if (!existsSync(report)) throw new Error(`The tests left no report:\n${output.slice(-4_000)}`);
    return { ...resultsIn(JSON.parse(readFileSync(report, 'utf8'))), seconds: secondsSince(since) };
  }

  /** Builds the package, unless it is built. Returns what has failed. */
  async #build() {
    if (this.#isBuilt) return null;
    const { code, output } = await this.#script(['scripts/build.mjs'], LIMITS.build);
    this.#isBuilt = code === 0;
    return code === 0 ? null : (output.trim().split('\n').at(-1) ?? '');
  }

  async #script(args, limitMs, env = {}) {
    const options = {
      cwd: this.#path,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    };
    const child = spawn(process.execPath, args, options);
    running = child;
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text) => (output += text));
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      end(child);
    }, limitMs);
    const [code] = await once(child, 'close');
    clearTimeout(timer);
    if (isInterrupted) throw new Error('Interrupted.');
    return { code, isLate, output };
  }
}

/** Ends a child with its processes: it has a process group. */
function end(child) {
  if (!child || child.exitCode !== null) return;
  const kill = (signal) => {
    try {
      process.kill(-child.pid, signal);
    } catch {
      // It has ended.
    }
  };
  kill('SIGINT');
  setTimeout(() => kill('SIGKILL'), END_MS).unref();
}

/** The command line for some tests, by their names. */
function argumentsFor(finders) {
  const of = (field) => [...new Set(finders.map((finder) => finder[field]))];
  const projects = of('project').map((name) => `--project=${name}`);
  const workers = finders.length === 1 ? ['--workers=1'] : [];
  return [...projects, ...of('spec'), ...workers, '--grep', of('test').map(escaped).join('|')];
}

/** What Playwright's JSON report says. */
function resultsIn({ suites, errors }) {
  const ran = [];
  const failed = [];
  const read = ({ file, specs = [], suites: inner = [] }) => {
    for (const { title, tests } of specs) {
      const done = tests.filter(({ results: [first] }) => first && first.status !== 'skipped');
      for (const { projectName, status } of done) {
        const name = nameOf({ project: projectName, spec: file, test: title });
        ran.push(name);
        if (status === 'unexpected') failed.push(name);
      }
    }
    for (const suite of inner) read(suite);
  };
  for (const suite of suites) read(suite);
  // Of the config, or of a file that cannot be loaded.
  const others = errors.map(({ message }) => String(message).split('\n')[0]);
  failed.push(...others.filter((message) => !/no tests found/i.test(message)));
  return { ran, failed };
}

/** `cdp network/cookies › sends …`. */
function nameOf({ project, spec, test }) {
  const path = spec.replace(/^test\//, '').replace(/\.spec\.ts$/, '');
  const isBelow = path.startsWith(`${project}/`);
  return `${project} ${isBelow ? path.slice(project.length + 1) : path} › ${test}`;
}

/** @throws Error that names the tests which do not pass without any fault */
async function checkClean(copy, faults) {
  const finders = faults.map(({ foundBy }) => foundBy);
  const { ran, failed } = await copy.run(finders, 'all', LIMITS.clean);
  const isThere = ({ test, ...of }) =>
    ran.some((name) => name.startsWith(nameOf({ ...of, test: '' })) && name.includes(test));
  const missing = finders.filter((finder) => !isThere(finder)).map(nameOf);
  if (failed.length > 0) throw new Error(`These fail without a fault:\n${failed.join('\n')}`);
  if (missing.length > 0) throw new Error(`These are missing or skipped: correct ${LIST}.\n${missing.join('\n')}`);
}

/** Applies a fault, and returns the first test of each gear that finds it; null: none does. */
async function tryFault(copy, fault, gears, onlyFinders) {
  return await copy.with(fault, async () => {
    const found = {};
    let seconds = '0';
    for (const gear of gears) {
      const own = await copy.run([fault.foundBy], gear, LIMITS.finder);
      seconds = own.seconds;
      let [first = null] = own.failed;
      if (first === null && !onlyFinders) [first = null] = (await copy.run(null, gear)).failed;
      found[gear] = first;
      // Everything includes the first gear.
      if (gear === 'first' && first !== null && gears.includes('all'))
        return { ...fault, found: { ...found, all: first }, seconds };
    }
    return { ...fault, found, seconds };
  });
}

function lineOf({ name, found, seconds }) {
  const results = Object.entries(found).map(([gear, test]) => `${gear}: ${test ?? 'NOT FOUND'}`);
  return `${name.padEnd(32)} ${seconds.padStart(5)} s  ${results.join('  ')}`;
}

function verdict(results, gears) {
  let isEnough = true;
  for (const gear of gears) {
    const count = results.filter(({ found }) => found[gear] !== null).length;
    console.log(`${gear}: ${count} of ${results.length} faults found`);
    const share = gear === 'first' ? FIRST / LEAST : 1;
    isEnough &&= count >= Math.floor(results.length * share);
  }
  return isEnough ? 0 : 1;
}

function writePage(results, gears) {
  const page = readFileSync(PAGE, 'utf8');
  const [begin, finish] = MARKS.map((mark) => page.indexOf(mark));
  const commit = execFileSync('git', ['describe', '--always', '--dirty'], { encoding: 'utf8' }).trim();
  const rows = results.map(({ name, breaks, room, found }) =>
    [name, breaks, room, ...gears.map((gear) => found[gear] ?? '**not found**')].map(cell).join(' | '),
  );
  const columns = gears.map((gear) => (gear === 'first' ? 'Found in the first gear by' : 'Found in all tests by'));
  const heads = ['Fault', 'What breaks', 'Room', ...columns];
  const counts = gears.map((gear) => {
    const count = results.filter(({ found }) => found[gear] !== null).length;
    return `${gear === 'first' ? 'the first gear finds' : 'all tests find'} ${count}`;
  });
  const lines = [
    `Commit ${commit}, ${new Date().toISOString().slice(0, 10)}: of ${results.length} faults, ${counts.join(', ')}.`,
    '',
    `| ${heads.join(' | ')} |`,
    `|${' --- |'.repeat(heads.length)}`,
    ...rows.map((row) => `| ${row} |`),
  ];
  writeFileSync(PAGE, `${page.slice(0, begin + MARKS[0].length)}\n${lines.join('\n')}\n${page.slice(finish)}`);
}

function cell(text) {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;');
}

function escaped(title) {
  return title.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}

function secondsSince(since) {
  return ((performance.now() - since) / 1000).toFixed(1);
}

await main(async () => {
  const { values, positionals: names } = parseArgs({
    allowPositionals: true,
    options: {
      gear: { type: 'string' },
      finders: { type: 'boolean', default: false },
      write: { type: 'boolean', default: false },
    },
  });
  const gears = values.gear === undefined ? ['first', 'all'] : [values.gear];
  if (!gears.every((gear) => ['first', 'all'].includes(gear))) throw new Error('--gear is first or all.');
  if (values.write && names.length > 0) throw new Error('--write needs the whole list.');
  const faults = chosen(names);
  const copy = new Copy();
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.once(signal, () => {
      isInterrupted = true;
      end(running);
    });
  }
  try {
    await checkClean(copy, faults);
    const results = [];
    for (const fault of faults) {
      results.push(await tryFault(copy, fault, gears, values.finders));
      console.log(lineOf(results.at(-1)));
    }
    if (values.write) writePage(results, gears);
    return verdict(results, gears);
  } finally {
    copy.remove();
  }
});
