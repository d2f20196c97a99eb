import { spawn } from 'node:child_process';
import { ApiError } from '../api-error.ts';

/**
 * Freezes or resumes a process started with `detached`, and all its children. @throws ApiError on
 * Windows.
 */
export function signalGroup(pid: number, signal: 'SIGSTOP' | 'SIGCONT'): void {
  if (process.platform === 'win32') {
    throw new ApiError(400, `Windows has no ${signal}: a browser cannot be made to stall there`);
  }
  try {
    process.kill(-pid, signal);
  } catch {
    // No such group: it has ended.
  }
}

/** Kills a process that was started `detached`, and everything it started. Never throws: gone is what we want. */
export function killGroup(pid: number): void {
  if (process.platform === 'win32') {
    const taskkill = spawn('taskkill', ['/pid', String(pid), '/T', '/F'], { stdio: 'ignore', windowsHide: true });
    taskkill.on('error', () => undefined);
    return;
  }
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // No such group: it has ended.
  }
}
