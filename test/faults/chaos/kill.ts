import { setTimeout as delay } from 'node:timers/promises';
import { expect } from '../../support/e2e/fixtures.ts';
import { descendants } from '../../support/e2e/process-tree.ts';
import type { RunningCommand } from '../../support/e2e/run-command.ts';
import { isRunning, send } from '../../support/processes.ts';
import type { ChaosPlan, Victim } from './plan.ts';

/** Longer than the 60 s that a worker may be silent, in ms. */
const HUNG_WORKER_MS = 75_000;

/**
 * Sends the plan's signal once enough tests have started. Returns false if the run ended before.
 * @param service process of the service outside the run
 */
export async function strike(run: RunningCommand, { death, source }: ChaosPlan, service: number): Promise<boolean> {
  if (!death) return false;
  const { whom, blow, pauseMs, afterTests } = death;
  if (!(await begun(run, afterTests))) return false;
  const runner = run.child.pid ?? 0;
  const pids: Record<Exclude<Victim, 'machine'>, () => number[]> = {
    runner: () => [runner],
    terminal: () => [-runner],
    // The newest one: earlier ones may have been replaced.
    worker: () => [Number([...run.output().matchAll(/AT (\d+)/g)].at(-1)?.[1])],
    broker: () => titled(runner, 'poolwright broker'),
    module: () => titled(runner, 'poolwright provider'),
    service: () => (source === 'embedded' ? titled(runner, 'poolwright emulator') : [service]),
  };
  if (whom === 'machine') return await killMachine(runner);
  const stops = blow === 'pause' || blow === 'pause-kill' || blow === 'hang';
  const struck = pids[whom]().filter((pid) => send(pid, stops ? 'SIGSTOP' : blow));
  if (blow === 'hang' && whom === 'worker') {
    // Playwright waits for its worker until someone kills it; the broker takes the browser back meanwhile.
    await delay(HUNG_WORKER_MS);
    for (const pid of struck) send(pid, 'SIGKILL');
  }
  if (blow.startsWith('pause')) {
    await delay(pauseMs); // the length of the pause is what the plan tests
    for (const pid of struck) send(pid, blow === 'pause' ? 'SIGCONT' : 'SIGKILL');
  }
  return struck.length > 0;
}

/** Whether this many tests have started; false if the run ended first. */
export async function begun(run: RunningCommand, tests: number): Promise<boolean> {
  return await run.printed(new RegExp(`(AT \\d+[\\s\\S]*){${tests}}`)).then(
    () => true,
    () => false,
  );
}

/** Kills runner, workers and broker at once: the runner is stopped first, so that it does not replace its broker. */
async function killMachine(runner: number): Promise<boolean> {
  if (!send(runner, 'SIGSTOP')) return false;
  const brokers = titled(runner, 'poolwright broker');
  // An embedded emulator ends when its broker's pipe closes.
  for (const broker of brokers) send(broker, 'SIGKILL');
  send(-runner, 'SIGKILL');
  await expect.poll(() => brokers.filter(isRunning)).toEqual([]);
  return true;
}

function titled(runner: number, title: string): number[] {
  return descendants(runner).flatMap(({ pid, command }) => (command.startsWith(title) ? pid : []));
}
