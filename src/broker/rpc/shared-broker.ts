import * as v from 'valibot';

/** How the processes of a run find its broker. */

/** Set by the global setup, inherited by every worker. */
export const BROKER_VARIABLE = 'POOLWRIGHT_BROKER';

/** The value of {@link BROKER_VARIABLE}, as JSON. */
const sharedBroker = v.object({
  /** Socket path (named pipe on Windows). */
  address: v.string(),
  token: v.string(),
  /** Process that started the broker. */
  runner: v.number(),
  workers: v.optional(v.number()),
});

export type SharedBroker = v.InferOutput<typeof sharedBroker>;
export type BrokerAddress = Pick<SharedBroker, 'address' | 'token'>;

/** Returns the broker of this process's run; null if there is none. */
export function sharedBrokerOf(environment: NodeJS.ProcessEnv): SharedBroker | null {
  const value = environment[BROKER_VARIABLE];
  return value ? v.parse(sharedBroker, JSON.parse(value)) : null;
}
