import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { nodeBinary } from './installed.mjs';
import { main } from './playwright.mjs';
import { readReport, tally, tallyLine } from './tally.mjs';

/**
 * `node scripts/anywhere.mjs [options] [-- arguments of npm test]`: runs the tests of the last commit as on another
 * machine: in a clone below the temporary directory, with a space and an umlaut in its path. Prints a line of results.
 *
 *   --user <uid>     as this user (needs root), with a home beside the clone, such as 65534
 *   --no-unshare     where unshare is refused, as in most containers
 *   --node <major>   on this Node: 20, 22 or 24
 *   --load <n>       beside n busy loops
 *   --gear <name>    POOLWRIGHT_GEAR: first, rest or all
 *   --install        with `npm ci` in place of a copy of this checkout's node_modules
 *   --minutes <n>    bound on the run; default 120
 *   --keep           leaves the clone
 */
const OPTIONS = {
  user: { type: 'string' },
  'no-unshare': { type: 'boolean', default: false },
  node: { type: 'string' },
  load: { type: 'string', default: '0' },
  gear: { type: 'string' },
  install: { type: 'boolean', default: false },
  minutes: { type: 'string', default: '120' },
  keep: { type: 'boolean', default: false },
};

/** What `npm ci` installs, of this checkout's workspaces. */
const MODULES = ['node_modules', 'test/e2e/playwright-1.48/node_modules'];

const REFUSED = '#!/bin/sh\necho "unshare: unshare failed: Operation not permitted" >&2\nexit 1\n';

/** Uses a core until its parent has ended. */
const BUSY = 'const parent = process.ppid; while (process.ppid === parent) for (let n = 0; n < 1e8; n += 1);';

/**
 * Runs npm beside loops of the same session: Linux shares its cores between sessions first, so that loops in other
 * sessions would take far more from the tests than as many processes take elsewhere.
 */
const BESIDE_LOOPS = 'loops=$1; shift; while [ $loops -gt 0 ]; do node -e "$0" & loops=$((loops-1)); done; npm "$@"';

await main(async () => {
  const { values, positionals } = parseArgs({ options: OPTIONS, allowPositionals: true });
  const [load, minutes] = [whole('load', values.load), whole('minutes', values.minutes)];
  const user = values.user === undefined ? null : whole('user', values.user);
  if (user !== null && process.getuid() !== 0) throw new Error('--user needs root');
  const place = mkdtempSync(join(tmpdir(), 'poolwright ü '));
  const started = [];
  const end = () => {
    for (const child of started.splice(0)) kill(child);
  };
  process.on('SIGINT', end).on('SIGTERM', end);
  try {
    const checkout = clone(place, values.install);
    const env = environment(place, values, user);
    if (user !== null) execFileSync('chown', ['-R', `${user}:${user}`, place]);
    const stdio = ['ignore', 'inherit', 'inherit'];
    const as = { cwd: checkout, env, stdio, detached: true, ...(user !== null && { uid: user, gid: user }) };
    const since = performance.now();
    const run = async (...args) => {
      const child = spawn('sh', ['-c', BESIDE_LOOPS, BUSY, String(load), ...args], as);
      started.push(child);
      return await ended(child, minutes * 60_000 - (performance.now() - since));
    };
    const code = (values.install && (await run('ci'))) || (await run('test', '--', ...positionals));
    const seconds = Math.round((performance.now() - since) / 1000);
    console.log(`${describe(values, checkout)}: ${outcome(checkout)} (exit code ${code}, ${seconds} s)`);
    return code;
  } finally {
    end();
    if (!values.keep) rmSync(place, { recursive: true, force: true, maxRetries: 10, retryDelay: 500 });
  }
});

function whole(name, value) {
  if (!/^\d+$/.test(value)) throw new Error(`--${name} must be a whole number, not "${value}"`);
  return Number(value);
}

/** Clones the last commit; returns the directory. */
function clone(place, install) {
  const checkout = join(place, 'poolwright');
  execFileSync('git', ['clone', '--quiet', '--no-hardlinks', resolve('.'), checkout], { stdio: 'inherit' });
  for (const modules of install ? [] : MODULES) {
    execFileSync('cp', ['-a', modules, join(checkout, modules)]);
    rmSync(join(checkout, modules, '.cache'), { recursive: true, force: true });
  }
  chmodSync(place, 0o755);
  return checkout;
}

/** The environment of a user who has just cloned: no variable of ours, and a home beside the clone for another user. */
function environment(place, { node, gear, 'no-unshare': refused }, user) {
  // In the checkout: tests with a temporary directory of another kind keep that.
  const programs = join(place, 'poolwright', 'node_modules', '.cache', 'programs');
  const home = join(place, 'home');
  for (const directory of [programs, home]) mkdirSync(directory, { recursive: true });
  if (node !== undefined) copyFileSync(nodeBinary(node), join(programs, 'node'));
  if (refused) writeFileSync(join(programs, 'unshare'), REFUSED, { mode: 0o755 });
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(POOLWRIGHT|XDG)_/.test(name)));
  env.PATH = `${programs}${delimiter}${process.env.PATH}`;
  if (gear !== undefined) env.POOLWRIGHT_GEAR = gear;
  return user === null ? env : { ...env, HOME: home, USER: String(user), LOGNAME: String(user) };
}

/** Waits for a process; kills it and all that it started once its time is over. Returns its exit code. */
async function ended(child, timeout) {
  const timer = setTimeout(kill, Math.max(0, timeout), child);
  const code = await new Promise((done, reject) => child.once('error', reject).once('exit', (exit) => done(exit ?? 1)));
  clearTimeout(timer);
  return code;
}

function kill({ pid, exitCode }) {
  if (pid === undefined || exitCode !== null) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}

function describe({ node, user, load, gear, 'no-unshare': refused }, checkout) {
  return [
    `Node ${node ?? process.versions.node}`,
    user === undefined ? 'this user' : `user ${user}`,
    refused ? 'unshare refused' : 'unshare as it is',
    `load ${load}`,
    ...(gear === undefined ? [] : [`gear ${gear}`]),
    `in "${checkout}"`,
  ].join(', ');
}

/** What the run's report says, in one line. */
function outcome(checkout) {
  const file = join(checkout, 'test-results', 'results.json');
  if (!existsSync(file)) return 'no results';
  return tallyLine(tally([readReport(file)]));
}
