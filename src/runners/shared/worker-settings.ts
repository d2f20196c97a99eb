import * as v from 'valibot';
import { type BrokerAddress, sharedBrokerOf } from '../../broker/rpc/shared-broker.ts';
import { OptionsError } from '../../errors.ts';
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
  connection: v.object({
    reuse: v.picklist(['run', 'worker', 'test']),
    metering: v.boolean(),
    ahead: v.boolean(),
    exposeNetwork: v.string(),
    context: v.union([
      v.picklist(['auto', 'isolated', 'persistent']),
      v.object({ mode: v.literal('persistent'), clear: v.optional(v.boolean()) }),
    ]),
    identity: v.optional(v.picklist(['keep', 'override'])),
  }),
});

export type WorkerSettings = v.InferOutput<typeof workerSettings>;

/** The single project of such a run. */
export const PROJECT = { id: 'default', name: '' };

export const SETTINGS_VARIABLE = 'POOLWRIGHT_WORKER';

/** How to set up each runner, for the error in tests that run without it. */
const SETUP_HINTS: Record<Exclude<Runner, 'playwright'>, string> = {
  vitest: "add `globalSetup: 'poolwright/vitest'` to `test` in vitest.config",
  jest: "add `preset: 'poolwright/jest'` to jest.config; your own `globalSetup` must call `setup` of poolwright/jest",
  mocha: 'add `"require": ["poolwright/mocha"]` to .mocharc.json, or run `mocha --require poolwright/mocha`',
  'node-test': 'run `node --require poolwright/node-test --test` (`--import` does not reach the runner itself)',
};

/** The run that this process belongs to. @throws OptionsError when no run was set up */
export function runOfWorker(runner: keyof typeof SETUP_HINTS): { address: BrokerAddress; settings: WorkerSettings } {
  const address = sharedBrokerOf(process.env);
  const value = process.env[SETTINGS_VARIABLE];
  const settings = value ? v.parse(workerSettings, JSON.parse(value)) : null;
  if (!address || settings?.runner !== runner) {
    throw new OptionsError('globalSetup', `poolwright is not set up for this run: ${SETUP_HINTS[runner]}.`);
  }
  return { address, settings };
}
