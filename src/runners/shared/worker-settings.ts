import * as v from 'valibot';
import { type BrokerAddress, sharedBrokerOf } from '../../broker/rpc/shared-broker.ts';
import { OptionsError } from '../../errors.ts';
import { connectionSchema } from '../../options/schema/plan.ts';
import { type Runner, runners } from '../../record/enums.ts';

/** Settings for the processes that run tests. They contain no secrets, because any of these processes can read them. */
const workerSettings = v.object({
  runner: v.picklist(runners),
  /** Recorded file names are relative to it. */
  root: v.string(),
  shard: v.nullable(v.object({ current: v.number(), total: v.number() })),
  /** Directory of `run.json`, and of what features keep. */
  directory: v.string(),
  features: v.record(v.string(), v.union([v.string(), v.boolean()])),
  connection: connectionSchema,
});

export type WorkerSettings = v.InferOutput<typeof workerSettings>;

/** The single project of such a run. */
export const PROJECT = { id: 'default', name: '' };

export const SETTINGS_VARIABLE = 'POOLWRIGHT_WORKER';

/** A runner, and how it is set up: for the error in tests that run without it. */
export interface RunnerSetup {
  name: Exclude<Runner, 'playwright'>;
  hint: string;
}

/** The run that this process belongs to. @throws OptionsError when no run was set up */
export function runOfWorker({ name, hint }: RunnerSetup): { address: BrokerAddress; settings: WorkerSettings } {
  const address = sharedBrokerOf(process.env);
  const value = process.env[SETTINGS_VARIABLE];
  const settings = value ? v.parse(workerSettings, JSON.parse(value)) : null;
  if (!address || settings?.runner !== name) {
    throw new OptionsError('globalSetup', `poolwright is not set up for this run: ${hint}.`);
  }
  return { address, settings };
}
