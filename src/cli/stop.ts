import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { isAlive } from '../common/platform/processes.ts';

/** How often to check whether npx still runs, in ms. */
const LOOK_EVERY_MS = 500;
/** Bound on asking the system for a process, in ms. */
const ASK_MS = 5_000;
const NPX = /\bnpm exec\b|\bnpx\b/;

/**
 * The ID of the npx that started this process; undefined without one. npx does not forward `SIGTERM`, so this process
 * must notice its end. The variable alone proves nothing, because children of npx pass it on to their children. One
 * shell may run between npx and this process. Windows has neither these signals nor `ps`.
 */
export async function npxParent(): Promise<number | undefined> {
  if (process.env.npm_command !== 'exec' || process.platform === 'win32') return undefined;
  const parent = await lookUp(process.ppid);
  if (!parent || NPX.test(parent.command)) return parent?.pid;
  const grandparent = await lookUp(parent.parentPid);
  return grandparent && NPX.test(grandparent.command) ? grandparent.pid : undefined;
}

/** Resolves when the process has ended. Does not keep this process alive. */
export function gone(pid: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setInterval(() => {
      if (isAlive(pid)) return;
      clearInterval(timer);
      resolve();
    }, LOOK_EVERY_MS).unref();
  });
}

async function lookUp(pid: number) {
  try {
    const { stdout } = await promisify(execFile)('ps', ['-o', 'ppid=', '-o', 'args=', '-p', String(pid)], {
      timeout: ASK_MS,
    });
    const [, parentPid, command = ''] = /^\s*(\d+)\s+(.*)/.exec(stdout) ?? [];
    return parentPid === undefined ? undefined : { pid, parentPid: Number(parentPid), command };
  } catch {
    return undefined;
  }
}

/** What asks to stop: on Windows, which delivers no SIGTERM, Ctrl-Break and a closed terminal do, too. */
export function stopSignals(platform: NodeJS.Platform): NodeJS.Signals[] {
  // Elsewhere a closed terminal ends a process without a handler; with a handler, `nohup` would not work.
  return platform === 'win32' ? ['SIGINT', 'SIGBREAK', 'SIGHUP'] : ['SIGINT', 'SIGTERM'];
}

/** Resolves at the first of {@link stopSignals} that comes at least `after` ms from now. */
export function stopSignal(after = 0): Promise<void> {
  const since = Date.now();
  return new Promise((resolve) => {
    const onSignal = () => Date.now() - since >= after && resolve();
    for (const signal of stopSignals(process.platform)) process.on(signal, onSignal);
  });
}
