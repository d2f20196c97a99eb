import { spawn } from 'node:child_process';
import {
  createReadStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { delimiter, dirname, extname, join, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';
import { install } from '../installed.mjs';

/** The hosted browsers' time zone: a page can tell that its browser is no local one. */
export const ZONE = 'Pacific/Chatham';
export const SESSION = { country: 'NZ', timezone: ZONE };

const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.json': 'application/json' };

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

/** Installs the packages of a tool, once. @returns the directory above its `node_modules` */
export function installTool({ packages }) {
  const [, first] = /^(@?[^@]+)/.exec(packages[0]);
  const directory = `tool-${first.replaceAll(/[^a-z\d]+/g, '-').replace(/^-/, '')}`;
  return dirname(install(directory, packages, first).slice(0, -first.length));
}

/**
 * Runs a tool with `poolwright exec`, and checks that it ran on hosted browsers, which visited a site on loopback.
 * @param {string} cli path of poolwright's command line
 * @param {Record<string, string>} env names the service
 * @param {readonly string[]} flags of `poolwright exec`
 * @returns {Promise<{ problems: string[], output: string }>}
 */
export async function runTool(tool, { cli, env, flags = [] }) {
  const installed = installTool(tool);
  // Not below node_modules, where tools look for no tests.
  mkdirSync('.consumers', { recursive: true });
  const directory = mkdtempSync(resolve('.consumers', 'tool-'));
  symlinkSync(join(installed, 'node_modules'), join(directory, 'node_modules'), 'junction');
  const site = await startSite(join(directory, 'public'));
  try {
    for (const [path, content] of Object.entries(tool.files ?? {})) {
      mkdirSync(dirname(join(directory, path)), { recursive: true });
      writeFileSync(join(directory, path), content);
    }
    const command = tool.command.replaceAll('{site}', site.url);
    const child = spawn(process.execPath, [cli, 'exec', ...flags, '--', 'sh', '-c', command], {
      cwd: directory,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...env,
        [MARK]: directory,
        SITE_URL: site.url,
        PATH: [join(installed, 'node_modules', '.bin'), env.PATH].join(delimiter),
      },
    });
    let text = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (chunk) => {
        text += chunk;
      });
    }
    const output = () => stripVTControlCharacters(text);
    const limit = AbortSignal.timeout(LIMIT_MS);
    limit.addEventListener('abort', () => child.kill('SIGTERM'));
    const code = await new Promise((resolve) => child.once('exit', (exitCode, signal) => resolve(exitCode ?? signal)));
    const problems = [
      ...(limit.aborted ? [`still ran after ${LIMIT_MS / 1000} s`] : code === 0 ? [] : [`ended with ${code}`]),
      ...(tool.prints && !tool.prints.test(output()) ? [`did not print ${tool.prints}`] : []),
      ...siteProblems(site.zones),
      ...recordProblems(join(directory, 'test-results', 'poolwright', 'run.json'), tool.browsers),
      ...(await processProblems(directory)),
    ];
    return { problems, output: output() };
  } finally {
    site.close();
    rmSync(directory, { recursive: true, force: true, maxRetries: 10 });
  }
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

function siteProblems(zones) {
  if (zones.length === 0) return ['no browser visited the site'];
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

/** On Linux: processes that the run has left. */
async function processProblems(directory) {
  const end = Date.now() + END_MS;
  for (;;) {
    const left = commandsMarked(directory);
    if (left.length === 0) return [];
    if (Date.now() > end) return left.map((command) => `left a process: ${command}`);
    await setTimeout(100);
  }
}

function commandsMarked(directory) {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => contentOf(`/proc/${pid}/environ`).split('\0').includes(`${MARK}=${directory}`))
    .map((pid) => contentOf(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').slice(0, 100));
}

/** Empty for a process that has ended. */
function contentOf(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
