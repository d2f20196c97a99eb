import * as v from 'valibot';
import { type BrokerAddress, sharedBrokerOf } from '../../broker/rpc/shared-broker.ts';
import { OptionsError } from '../../errors.ts';
import { type Runner, runners } from '../../record/run-record.ts';

/** What a runner's main process tells the processes that run its tests. No secrets: any of them can read it. */
const workerSettings = v.object({
  runner: v.picklist(runners),
  /** Files are named from there. */
  root: v.string(),
  shard: v.nullable(v.object({ current: v.number(), total: v.number() })),
  reuse: v.picklist(['run', 'worker', 'test']),
  link: v.object({
    metering: v.boolean(),
    ahead: v.boolean(),
    sharesBrowser: v.boolean(),
    exposeNetwork: v.string(),
    context: v.union([
      v.picklist(['auto', 'isolated', 'persistent']),
      v.object({ mode: v.literal('persistent'), clear: v.optional(v.boolean()) }),
    ]),
    identity: v.optional(v.picklist(['keep', 'override'])),
  }),
});

export type WorkerSettings = v.InferOutput<typeof workerSettings>;

/** The one project of such a run. */
export const PROJECT = { id: 'default', name: '' };

export const SETTINGS_VARIABLE = 'POOLWRIGHT_WORKER';

/** How each runner is set up: what a test is told that runs without. */
const SET_UP: Record<Exclude<Runner, 'playwright'>, string> = {
  vitest: "add `globalSetup: 'poolwright/vitest'` to `test` in vitest.config",
  jest: "add `preset: 'poolwright/jest'` to jest.config; a `globalSetup` of its own calls `setup` of poolwright/jest",
  mocha: 'add `"require": ["poolwright/mocha"]` to .mocharc.json, or run `mocha --require poolwright/mocha`',
  'node-test': 'run `node --require poolwright/node-test --test` (`--import` does not reach the runner itself)',
};

/** The run that this process runs tests of. @throws OptionsError when none was set up */
export function runOfWorker(runner: keyof typeof SET_UP): { address: BrokerAddress; settings: WorkerSettings } {
  const address = sharedBrokerOf(process.env);
  const value = process.env[SETTINGS_VARIABLE];
  const settings = value ? v.parse(workerSettings, JSON.parse(value)) : null;
  if (!address || settings?.runner !== runner) {
    throw new OptionsError('globalSetup', `poolwright is not set up for this run: ${SET_UP[runner]}.`);
  }
  return { address, settings };
}
