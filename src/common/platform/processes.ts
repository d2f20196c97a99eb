import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { within } from '../pause.ts';

/**
 * The environment for a program that is not a part of the run, such as a browser: without the variables of poolwright,
 * which have its keys, tokens and addresses.
 * @param keep variables of poolwright that the program needs
 */
export function childEnvironment(keep: readonly string[] = []): NodeJS.ProcessEnv {
  const entries = Object.entries(process.env).filter(
    // Windows takes `poolwright_api_key` for the same variable.
    ([name]) => !/^POOLWRIGHT_/i.test(name) || keep.includes(name),
  );
  return Object.fromEntries(entries);
}

/** Whether a process with this ID exists, of any user. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

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
