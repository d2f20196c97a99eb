import { spawnSync } from 'node:child_process';

/** Gets a Chromium on a machine that has none. The look-up is the emulator's own, so the package must be built. */

const DOWNLOAD_TIMEOUT_MS = 180_000;
const PACKAGE_TIMEOUT_MS = 600_000;

/** Package managers that a fresh Linux machine may have, and how each installs Chromium. */
const PACKAGE_MANAGERS = [
  { command: 'apt-get', steps: [['update'], ['install', '-y', '--no-install-recommends', 'chromium']] },
  { command: 'dnf', steps: [['install', '-y', 'chromium']] },
  { command: 'apk', steps: [['add', 'chromium']] },
];

async function find() {
  const { findChromium } = await import('../dist/emulator.js');
  try {
    return await findChromium();
  } catch (error) {
    // A wrong POOLWRIGHT_CHROMIUM is to be corrected, not worked around.
    if (process.env.POOLWRIGHT_CHROMIUM || error.code !== 'EMULATOR_NO_CHROMIUM') throw error;
    return null;
  }
}

function run(command, args, timeout, env = {}) {
  const { status } = spawnSync(command, args, { stdio: 'inherit', timeout, env: { ...process.env, ...env } });
  return status === 0;
}

function installWithPackageManager() {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false;
  const manager = PACKAGE_MANAGERS.find(({ command }) => spawnSync(command, ['--version']).status === 0);
  if (!manager) return false;
  const env = { DEBIAN_FRONTEND: 'noninteractive' };
  return manager.steps.every((args) => run(manager.command, args, PACKAGE_TIMEOUT_MS, env));
}

/** Makes sure there is one; throws an error that says what to do. */
export async function ensureChromium() {
  let found = await find();
  if (!found) {
    console.log('No Chromium on this machine: trying Playwright’s download.');
    run(process.execPath, ['node_modules/playwright-core/cli.js', 'install', 'chromium'], DOWNLOAD_TIMEOUT_MS);
    found = await find();
  }
  if (!found) {
    console.log('Playwright’s download did not work: trying the system’s package manager.');
    installWithPackageManager();
    found = await find();
  }
  if (!found) {
    throw new Error(
      'No Chromium could be got. Run "npx playwright install chromium" where its download can be reached, install Chrome ' +
        'or Chromium with the system’s package manager (as root), or name one in POOLWRIGHT_CHROMIUM.',
    );
  }
  console.log(`Chromium: ${found.path}`);
}
