import { availableParallelism } from 'node:os';
import type { RunRecord } from '../../record/run-record.ts';

/** The relevant flags that Node was started with. */
export interface RunnerFlags {
  /** This process starts one process for each test file (`--test`) and runs no tests itself. */
  startsProcesses: boolean;
  watch: boolean;
  /** How many processes run tests at the same time. */
  workers: number;
  shard: RunRecord['shard'];
}

/** @param flags `process.execArgv` */
export function runnerFlags(flags: readonly string[]): RunnerFlags {
  const isolation = flagValue(flags, '--test-isolation') ?? flagValue(flags, '--experimental-test-isolation');
  const startsProcesses = flags.includes('--test') && isolation !== 'none';
  const concurrency = Number(flagValue(flags, '--test-concurrency') ?? 0);
  const workers = concurrency > 0 ? concurrency : Math.max(1, availableParallelism() - 1);
  const [, current, total] = /^(\d+)\/(\d+)$/.exec(flagValue(flags, '--test-shard') ?? '') ?? [];
  return {
    startsProcesses,
    watch: flags.includes('--watch'),
    workers: startsProcesses ? workers : 1,
    shard: current && total ? { current: Number(current), total: Number(total) } : null,
  };
}

/** `--flag=value` or `--flag value`. */
function flagValue(flags: readonly string[], name: string): string | undefined {
  const at = flags.findIndex((flag) => flag === name || flag.startsWith(`${name}=`));
  const flag = flags[at];
  return flag?.includes('=') ? flag.slice(flag.indexOf('=') + 1) : flag && flags[at + 1];
}
