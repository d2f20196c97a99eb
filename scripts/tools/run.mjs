import { spawn } from 'node:child_process';
import {
  closeSync,
  createReadStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { delimiter, dirname, extname, join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';
import { install } from '../installed.mjs';

/** The hosted browsers' time zone: a page can tell its browser from a local one. */
export const ZONE = 'Pacific/Chatham';
export const SESSION = { country: 'NZ', timezone: ZONE };

/** Of the files that a site serves. */
const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.json': 'application/json' };

/** Where a run's output is. */
const OUTPUT = 'output.txt';
const LIMIT_MS = 180_000;
/** Marks all processes of a run: what a tool starts inherits it. */
const MARK = 'POOLWRIGHT_TOOLS_RUN';
/** How long processes may take to end after the command. */
const END_MS = 10_000;

/** A page that reports its browser's time zone, for tools that need one to visit. */
const PAGE = `<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>site</title>
<link rel="icon" href="data:,"><main><h1>Site</h1></main>
<script>
  fetch('/seen?zone=' + Intl.DateTimeFormat().resolvedOptions().timeZone).then(() => {
    document.title = 'seen';
    document.querySelector('h1').textContent = 'seen';
  });
</script></html>`;

/** Installs the packages of a tool, once. @returns the `node_modules`, and the tool's version */
export function installTool({ packages: [own, ...others] }) {
  if (own === undefined) return { modules: resolve('node_modules'), version: '' };
  const name = own.replace(/(?<=.)@.*/, '');
  const directory = `tool-${name.replace(/^@/, '').replace('/', '-')}`;
  const place = install(directory, [own, ...others], name);
  const { version } = JSON.parse(readFileSync(join(place, 'package.json'), 'utf8'));
  return { modules: place.slice(0, -name.length - 1), version };
}

/**
 * Runs a tool with `poolwright exec`, and checks that it ran on hosted browsers, which visited a site on loopback.
 * @param {(typeof import('./list.mjs').TOOLS)[number]} tool
 * @param {{ cli: string, env: NodeJS.ProcessEnv, flags: readonly string[] }} how path of poolwright's command line, the
 *   variables that name the service, and flags of `poolwright exec`
 * @returns {Promise<{ problems: string[], output: string }>}
 */
export async function runTool(tool, { cli, env, flags }) {
  const { modules } = installTool(tool);
  // Not below node_modules, where runners look for no tests.
  mkdirSync('.consumers', { recursive: true });
  const directory = mkdtempSync(resolve('.consumers', 'tool-'));
  symlinkSync(modules, join(directory, 'node_modules'), 'junction');
  const site = await startSite(join(directory, 'public'));
  try {
    for (const [path, content] of Object.entries({ ...tool.files, 'session.json': JSON.stringify(SESSION) })) {
      mkdirSync(dirname(join(directory, path)), { recursive: true });
      writeFileSync(join(directory, path), content);
    }
    const end = await runCommand([cli, 'exec', ...flags, '--', 'sh', '-c', tool.command], directory, {
      ...env,
      SITE_URL: site.url,
      PATH: [join(modules, '.bin'), env.PATH].join(delimiter),
    });
    const output = stripVTControlCharacters(readFileSync(join(directory, OUTPUT), 'utf8'));
    const problems = [
      ...(end === (tool.cannot ? 1 : 0) ? [] : [`ended with ${end}`]),
      ...(tool.prints && !tool.prints.test(output) ? [`did not print ${tool.prints}`] : []),
      ...siteProblems(site.zones, tool.browsers),
      ...recordProblems(join(directory, 'test-results', 'poolwright', 'run.json'), tool.browsers),
      ...(await processProblems(directory)),
    ];
    return { problems, output };
  } finally {
    site.close();
    rmSync(directory, { recursive: true, force: true, maxRetries: 10 });
  }
}

/** @returns its exit code, or what has ended it */
async function runCommand(args, directory, env) {
  // A file, not pipes: processes that a tool leaves would keep those open.
  const file = openSync(join(directory, OUTPUT), 'w');
  const child = spawn(process.execPath, args, {
    cwd: directory,
    stdio: ['ignore', file, file],
    env: { ...env, [MARK]: directory },
  });
  closeSync(file);
  let isLate = false;
  const end = new Promise((resolveEnd) => child.once('exit', (code, signal) => resolveEnd(code ?? signal)));
  const timer = setTimeout(() => {
    isLate = true;
    child.kill('SIGTERM');
  }, LIMIT_MS);
  const code = await end;
  clearTimeout(timer);
  return isLate ? `its time limit, ${LIMIT_MS / 1000} s` : code;
}

/** @param {string} files a directory that it serves, if there is one, instead of its page */
async function startSite(files) {
  const zones = [];
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url, 'http://site');
    if (pathname === '/seen') zones.push(searchParams.get('zone'));
    const file = join(files, pathname === '/' ? 'index.html' : pathname);
    response.setHeader('content-type', TYPES[extname(file)] ?? 'text/plain');
    if (existsSync(file)) createReadStream(file).pipe(response);
    else response.end(pathname === '/' ? PAGE : '');
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    zones,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** @param {number} browsers how many must have visited it */
function siteProblems(zones, browsers) {
  if (zones.length < browsers) return [`the site had ${zones.length} visitors`];
  return zones.every((zone) => zone === ZONE) ? [] : [`the site's visitors were in ${[...new Set(zones)].join()}`];
}

/** @param {number} browsers how many the tool needs */
function recordProblems(path, browsers) {
  let record;
  try {
    record = JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return ['there is no record'];
  }
  const { sessions, leaseFailures } = record;
  const open = sessions.filter(({ endConfirmed }) => !endConfirmed);
  return [
    ...(sessions.length === browsers ? [] : [`${sessions.length} browsers instead of ${browsers}`]),
    ...(open.length === 0 ? [] : [`${open.length} browsers were not given back`]),
    ...leaseFailures,
  ];
}

/** On Linux: processes that the run has left. They are killed. */
async function processProblems(directory) {
  const end = Date.now() + END_MS;
  for (;;) {
    const left = processesMarked(directory);
    if (left.length === 0) return [];
    if (Date.now() > end) {
      for (const { pid } of left) process.kill(pid, 'SIGKILL');
      return left.map(({ command }) => `left a process: ${command}`);
    }
    await pause(100);
  }
}

function processesMarked(directory) {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => contentOf(`/proc/${pid}/environ`).split('\0').includes(`${MARK}=${directory}`))
    .map((pid) => ({
      pid: Number(pid),
      command: contentOf(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').slice(0, 100),
    }));
}

/** Empty for a process that has ended. */
function contentOf(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
