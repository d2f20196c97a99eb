import { spawn } from 'node:child_process';

/** Kills a process that was started `detached`, and everything it started. Never throws: gone is what we want. */
export function killGroup(pid: number): void {
  if (process.platform === 'win32') {
    spawn('taskkill', ['/pid', String(pid), '/T', '/F'], { stdio: 'ignore' }).on('error', () => undefined);
    return;
  }
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // No such group: it has ended.
  }
}
