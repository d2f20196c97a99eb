import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { defineProvider, ProviderError } from 'poolwright/provider';

/** One Chromium on this machine for each lease (Linux, macOS). Its profile directory has all that `release` needs. */

const chromium = process.env.CHROMIUM_PATH ?? 'chromium';
const prefix = 'poolwright-browser-';

export default defineProvider({
  release,

  async acquire({ label, signal }) {
    const profile = await mkdtemp(join(tmpdir(), prefix));
    const id = basename(profile);
    try {
      writeFileSync(join(profile, 'label'), label);
      const flags = ['--headless', '--remote-debugging-port=0', `--user-data-dir=${profile}`, '--no-first-run'];
      if (process.getuid?.() === 0) flags.push('--no-sandbox'); // Chromium does not start as root with it
      // A process group, because some packages start Chromium by a script; TMPDIR, to remove all files at once.
      const env = { ...process.env, TMPDIR: profile };
      const child = spawn(chromium, flags, { detached: true, stdio: 'ignore', env });
      writeFileSync(join(profile, 'pid'), String(child.pid));
      await once(child, 'spawn').catch((cause) => {
        throw new ProviderError('INVALID', `${chromium} does not start: set CHROMIUM_PATH`, { cause });
      });
      child.unref();
      for (;;) {
        const [port, path] = (await textOf(join(profile, 'DevToolsActivePort'))).split('\n');
        if (path) return { id, cdpUrl: `ws://127.0.0.1:${port}${path}` };
        if (child.exitCode !== null) throw new ProviderError('INVALID', `${chromium} ended with ${child.exitCode}`);
        await setTimeout(20, undefined, { signal });
      }
    } catch (error) {
      await release(id);
      throw error;
    }
  },

  async list() {
    const ids = (await readdir(tmpdir())).filter((name) => name.startsWith(prefix));
    return await Promise.all(ids.map(async (id) => ({ id, label: await textOf(join(tmpdir(), id, 'label')) })));
  },
});

/**
 * Also called for one that has ended, and by other processes.
 * @param {string} id
 */
async function release(id) {
  if (!id.startsWith(prefix)) return;
  const profile = join(tmpdir(), basename(id));
  const pid = Number(await textOf(join(profile, 'pid')));
  // After a crash of Chromium, another process may have its number.
  if (pid && (await commandOf(pid)).includes(profile)) process.kill(-pid, 'SIGKILL');
  await rm(profile, { recursive: true, force: true, maxRetries: 10 });
}

/** @param {string} file */
async function textOf(file) {
  return await readFile(file, 'utf8').catch(() => '');
}

/**
 * The command of a process; empty when it has ended.
 * @param {number} pid
 */
async function commandOf(pid) {
  if (process.platform === 'linux') return await textOf(`/proc/${pid}/cmdline`);
  const shown = promisify(execFile)('ps', ['-o', 'command=', '-p', String(pid)]);
  return (await shown.catch(() => ({ stdout: '' }))).stdout;
}
