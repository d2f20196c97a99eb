import { setTimeout as delay } from 'node:timers/promises';
import { expect } from '../e2e/fixtures.ts';
import { descendants } from '../e2e/process-tree.ts';
import type { RunningCommand } from '../e2e/run-command.ts';
import { isRunning, send } from '../processes.ts';
import type { ChaosPlan, Victim } from './chaos-plan.ts';

/** A worker may be silent for 60 s; this is more, in ms. */
const HUNG_WORKER_MS = 75_000;

/**
 * Strikes whom the plan says once enough tests have begun. False: the run was over before.
 * @param service process of the service outside of the run
 */
export async function strike(run: RunningCommand, { death, source }: ChaosPlan, service: number): Promise<boolean> {
  if (!death) return false;
  const { whom, blow, pauseMs, afterTests } = death;
  if (!(await begun(run, afterTests))) return false;
  const runner = run.child.pid ?? 0;
  const pids: Record<Exclude<Victim, 'machine'>, () => number[]> = {
    runner: () => [runner],
    terminal: () => [-runner],
    // The newest: an earlier one may have been replaced.
    worker: () => [Number([...run.output().matchAll(/AT (\d+)/g)].at(-1)?.[1])],
    broker: () => titled(runner, 'poolwright broker'),
    service: () => (source === 'embedded' ? titled(runner, 'poolwright emulator') : [service]),
  };
  if (whom === 'machine') return await killMachine(runner);
  const stops = blow === 'pause' || blow === 'pause-kill' || blow === 'hang';
  const struck = pids[whom]().filter((pid) => send(pid, stops ? 'SIGSTOP' : blow));
  if (blow === 'hang' && whom === 'worker') {
    // Playwright waits for its worker until somebody kills it; the browser is taken back meanwhile.
    await delay(HUNG_WORKER_MS);
    for (const pid of struck) send(pid, 'SIGKILL');
  }
  if (blow.startsWith('pause')) {
    await delay(pauseMs); // that it stands still for so long is what is tried
    for (const pid of struck) send(pid, blow === 'pause' ? 'SIGCONT' : 'SIGKILL');
  }
  return struck.length > 0;
}

/** Whether so many tests have begun; false when the run ended first. */
export async function begun(run: RunningCommand, tests: number): Promise<boolean> {
  return await run.printed(new RegExp(`(AT \\d+[\\s\\S]*){${tests}}`)).then(
    () => true,
    () => false,
  );
}

/** Runner, workers and broker at once: the runner is held, so that it does not replace its broker. */
async function killMachine(runner: number): Promise<boolean> {
  if (!send(runner, 'SIGSTOP')) return false;
  const brokers = titled(runner, 'poolwright broker');
  // An embedded emulator goes with its broker's pipe.
  for (const broker of brokers) send(broker, 'SIGKILL');
  send(-runner, 'SIGKILL');
  await expect.poll(() => brokers.filter(isRunning)).toEqual([]);
  return true;
}

function titled(runner: number, title: string): number[] {
  return descendants(runner).flatMap(({ pid, command }) => (command.startsWith(title) ? pid : []));
}
