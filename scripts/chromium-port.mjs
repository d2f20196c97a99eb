import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';

/** A Chromium of this machine with a debugging port, as users start their own. */

const START_MS = 60_000;
/** Debian's `chromium` is a script. */
const DEBIANS = '/usr/lib/chromium/chromium';

export async function chromiumPath() {
  if (existsSync(DEBIANS)) return DEBIANS;
  const { full, shell } = await (await import('../dist/emulator.js')).findChromiums();
  return (full ?? shell).path;
}

/**
 * Starts one.
 * @param {string} profile its directory, also for temporary files
 * @returns {Promise<{ url: string, stop: () => void }>}
 */
export async function startChromium(chromium, profile, env = {}) {
  mkdirSync(profile, { recursive: true });
  const flags = [
    '--headless',
    '--remote-debugging-port=0',
    `--user-data-dir=${profile}`,
    '--no-first-run',
    '--no-sandbox',
  ];
  const options = { detached: true, stdio: 'ignore', env: { ...process.env, ...env, TMPDIR: profile } };
  const child = spawn(chromium, flags, options);
  const stop = () => process.kill(-child.pid, 'SIGKILL');
  try {
    const port = await until(() => readFileSync(join(profile, 'DevToolsActivePort'), 'utf8').split('\n')[0]);
    return { url: `http://127.0.0.1:${port}`, stop };
  } catch (error) {
    stop();
    throw error;
  }
}

/** Resolves with the first result that is true; failures count as false. */
export async function until(look) {
  const end = Date.now() + START_MS;
  for (;;) {
    const found = await Promise.resolve()
      .then(look)
      .catch(() => undefined);
    if (found) return found;
    if (Date.now() > end) throw new Error(`not there after ${START_MS / 1000} s: ${look}`);
    await setTimeout(100);
  }
}
