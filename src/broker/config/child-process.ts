import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { within } from '../../common/pause.ts';

/** Whether a process is still running. */
export function isThere(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null;
}

/** Closes a process's standard input and waits until it has exited; kills it after `timeoutMs`. */
export async function endProcess(child: ChildProcess, timeoutMs: number): Promise<void> {
  if (!isThere(child)) return;
  const exited = once(child, 'exit');
  child.ref();
  child.stdin?.end();
  if (await within(exited, timeoutMs, null)) return;
  child.kill('SIGKILL');
  await exited;
}
