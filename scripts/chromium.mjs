import { spawnSync } from 'node:child_process';

/**
 * Gets full Chromium and the headless shell on a machine that lacks one. The look-up is the emulator's own, so the
 * package must be built.
 */

const DOWNLOAD_TIMEOUT_MS = 180_000;
const PACKAGE_TIMEOUT_MS = 600_000;

/** Package managers that a fresh Linux machine may have, and what each calls the two; null: it has none. */
const PACKAGE_MANAGERS = [
  {
    command: 'apt-get',
    before: ['update'],
    install: ['install', '-y', '--no-install-recommends'],
    packages: { full: 'chromium', shell: 'chromium-headless-shell' },
  },
  { command: 'dnf', install: ['install', '-y'], packages: { full: 'chromium', shell: 'chromium-headless' } },
  { command: 'apk', install: ['add'], packages: { full: 'chromium', shell: null } },
];
const NAMES = { full: 'full Chromium', shell: 'headless shell (for plain sessions, three times as light)' };

async function find() {
  const { findChromiums } = await import('../dist/emulator.js');
  try {
    return await findChromiums();
  } catch (error) {
    // What a variable names wrongly is to be corrected, not worked around.
    const { POOLWRIGHT_CHROMIUM: full, POOLWRIGHT_CHROMIUM_SHELL: shell } = process.env;
    if (full || shell || error.code !== 'EMULATOR_NO_CHROMIUM') throw error;
    return { full: null, shell: null };
  }
}

function run(command, args, timeout, env = {}) {
  const { status } = spawnSync(command, args, { stdio: 'inherit', timeout, env: { ...process.env, ...env } });
  return status === 0;
}

function download(kinds) {
  const targets = kinds.map((kind) => (kind === 'full' ? 'chromium' : 'chromium-headless-shell'));
  run(process.execPath, ['node_modules/playwright-core/cli.js', 'install', ...targets], DOWNLOAD_TIMEOUT_MS);
}

function installPackages(kinds) {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return;
  const manager = PACKAGE_MANAGERS.find(({ command }) => spawnSync(command, ['--version']).status === 0);
  if (!manager) return;
  const env = { DEBIAN_FRONTEND: 'noninteractive' };
  if (manager.before) run(manager.command, manager.before, PACKAGE_TIMEOUT_MS, env);
  // One by one, so that a missing package does not prevent the other.
  for (const name of kinds.map((kind) => manager.packages[kind]).filter((each) => each !== null)) {
    run(manager.command, [...manager.install, name], PACKAGE_TIMEOUT_MS, env);
  }
}

/** Which of the two nobody has; a Chromium that is named alone is for everything, and nothing more is wanted. */
function missing(found) {
  if (process.env.POOLWRIGHT_CHROMIUM && (found.full || found.shell)) return [];
  return ['full', 'shell'].filter((kind) => found[kind] === null);
}

/** Makes sure there is one, and both where possible; throws an error that says what to do. */
export async function ensureChromium() {
  let found = await find();
  for (const [how, get] of [
    ['Playwright’s download', download],
    ['the system’s package manager', installPackages],
  ]) {
    const kinds = missing(found);
    if (kinds.length === 0) break;
    console.log(`Not on this machine: ${kinds.map((kind) => NAMES[kind]).join(' and ')}. Trying ${how} …`);
    get(kinds);
    found = await find();
  }
  if (!found.full && !found.shell) {
    throw new Error(
      'No Chromium could be got. Run "npx playwright install chromium" where its download can be reached, install Chrome ' +
        'or Chromium with the system’s package manager (as root), or name one in POOLWRIGHT_CHROMIUM.',
    );
  }
  const { describeChromiums } = await import('../dist/emulator.js');
  for (const line of describeChromiums(found)) console.log(`Chromium: ${line}`);
}
