import { spawn, spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { build } from 'esbuild';
import yoctoSpinner from 'yocto-spinner';

/** Gets full Chromium and the headless shell on a machine that lacks one. */

/** Where the emulator's look-up is built for this process: in the project, so that it finds Playwright. */
const LOOK_UP = `node_modules/.cache/poolwright-chromium-${process.pid}.mjs`;

const DOWNLOAD_TIMEOUT_MS = 180_000;
const PACKAGE_TIMEOUT_MS = 600_000;
/** How often progress is shown: a log gets a new line each time. */
const TICK_MS = { terminal: 1_000, log: 10_000 };

/** Package managers that a fresh Linux machine may have, and what each calls the programs; null: it has none. */
const PACKAGE_MANAGERS = [
  {
    command: 'apt-get',
    before: ['update'],
    install: ['install', '-y', '--no-install-recommends'],
    packages: { full: 'chromium', shell: 'chromium-headless-shell', driver: 'chromium-driver' },
  },
  {
    command: 'dnf',
    install: ['install', '-y'],
    packages: { full: 'chromium', shell: 'chromium-headless', driver: 'chromedriver' },
  },
  { command: 'apk', install: ['add'], packages: { full: 'chromium', shell: null, driver: 'chromium-chromedriver' } },
];
const NAMES = { full: 'full Chromium', shell: 'headless shell (for plain sessions, three times as light)' };

/** The emulator's own look-up, from its sources: the package is built at the same time. */
async function loadLookUp() {
  const contents = `
    export { describeChromiums } from './choose-chromium.ts';
    export { findChromiums } from './find-chromium.ts';`;
  await build({
    stdin: { contents, resolveDir: 'src/emulator/chromium' },
    outfile: LOOK_UP,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    external: ['playwright-core'],
  });
  try {
    return await import(pathToFileURL(LOOK_UP).href);
  } finally {
    rmSync(LOOK_UP);
  }
}

async function find(findChromiums) {
  try {
    return await findChromiums();
  } catch (error) {
    // What a variable names wrongly is to be corrected, not worked around.
    const { POOLWRIGHT_CHROMIUM: full, POOLWRIGHT_CHROMIUM_SHELL: shell } = process.env;
    if (full || shell || error.code !== 'EMULATOR_NO_CHROMIUM') throw error;
    return { full: null, shell: null };
  }
}

/**
 * Runs a command, and shows what it does in one line with the seconds so far. Its own output is shown only in part: the
 * last line while it runs, and its first error when it fails.
 */
async function run(what, command, args, timeout, env = {}) {
  const since = performance.now();
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], timeout, env: { ...process.env, ...env } });
  const spinner = yoctoSpinner({ text: what }).start();
  let lines = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      lines = [...lines, ...text.split(/[\r\n]+/).filter((line) => line.trim() !== '')].slice(-200);
    });
  }
  const seconds = () => `${Math.round((performance.now() - since) / 1000)} s`;
  const timer = setInterval(
    () => {
      const last = stripVTControlCharacters(lines.at(-1) ?? '').trim();
      spinner.text = `${what}  ${seconds()}  ${last.slice(0, 60)}`;
    },
    process.stderr.isTTY ? TICK_MS.terminal : TICK_MS.log,
  );
  const code = await new Promise((resolve) => {
    child.once('error', () => resolve(1));
    child.once('close', resolve);
  });
  clearInterval(timer);
  if (code === 0) return void spinner.success(`${what}  ${seconds()}`);
  const reason = lines
    .map((line) => /^\s*(?:Error|E|error): ?(.+)/.exec(stripVTControlCharacters(line))?.[1])
    .find(Boolean);
  spinner.warning(`${what}: not possible (${(reason ?? `exit code ${code}, after ${seconds()}`).slice(0, 120)})`);
}

async function download(kinds) {
  const targets = kinds.map((kind) => (kind === 'full' ? 'chromium' : 'chromium-headless-shell'));
  const args = ['node_modules/playwright-core/cli.js', 'install', ...targets];
  await run('Downloading Chromium with Playwright', process.execPath, args, DOWNLOAD_TIMEOUT_MS);
}

async function installPackages(kinds) {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return;
  const manager = PACKAGE_MANAGERS.find(({ command }) => spawnSync(command, ['--version']).status === 0);
  if (!manager) return;
  const { command, before, install, packages } = manager;
  const env = { DEBIAN_FRONTEND: 'noninteractive' };
  if (before) await run(`Asking ${command} for its packages`, command, before, PACKAGE_TIMEOUT_MS, env);
  // One by one, so that a missing package does not prevent the other.
  for (const name of kinds.map((kind) => packages[kind]).filter((each) => each !== null)) {
    await run(`Installing ${name} with ${command}`, command, [...install, name], PACKAGE_TIMEOUT_MS, env);
  }
}

/** Makes sure there is ChromeDriver, as a package of the system; throws an error that says what to do. */
export async function ensureChromeDriver() {
  const isThere = () => spawnSync('chromedriver', ['--version']).status === 0;
  if (!isThere()) await installPackages(['driver']);
  if (!isThere()) throw new Error("There is no chromedriver. Install it with the system's package manager (as root).");
}

/** Which of the two nobody has; a Chromium that is named alone is for everything, and nothing more is wanted. */
function missing(found) {
  if (process.env.POOLWRIGHT_CHROMIUM && (found.full || found.shell)) return [];
  return ['full', 'shell'].filter((kind) => found[kind] === null);
}

/** Makes sure there is one, and both where possible; throws an error that says what to do. */
export async function ensureChromium() {
  const { describeChromiums, findChromiums } = await loadLookUp();
  let found = await find(findChromiums);
  const lacking = missing(found);
  if (lacking.length > 0) console.log(`Missing: ${lacking.map((kind) => NAMES[kind]).join(', and ')}.`);
  for (const get of [download, installPackages]) {
    const kinds = missing(found);
    if (kinds.length === 0) break;
    await get(kinds);
    found = await find(findChromiums);
  }
  if (!found.full && !found.shell) {
    throw new Error(
      'No Chromium could be got. Run "npx playwright install chromium" where its download can be reached, install Chrome ' +
        'or Chromium with the system’s package manager (as root), or name one in POOLWRIGHT_CHROMIUM.',
    );
  }
  for (const line of describeChromiums(found)) console.log(`Chromium: ${line}`);
}
