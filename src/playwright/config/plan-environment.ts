import { BROKER_VARIABLE, sharedBroker } from '../../broker/process/config.ts';
import { type Environment, variable } from '../../options/environment.ts';

/**
 * What the plans of a run are made from. The runner's environment counts, as it was when the run began: a global setup
 * that changes it reaches the workers, but no plan, or they would ask for other browsers than were fetched for them.
 */
export function planEnvironment(environment: NodeJS.ProcessEnv): Environment {
  const shared = environment[BROKER_VARIABLE];
  if (!shared) return environment;
  const { runner, pool } = sharedBroker.parse(JSON.parse(shared));
  // A run that a test starts inherits the variable; it is a run of its own.
  if (runner !== process.pid && runner !== process.ppid) return environment;
  return { ...environment, POOLWRIGHT_POOL: pool ?? undefined };
}

/** The part of this process's environment that {@link planEnvironment} hands on to the workers. */
export function planVariables(environment: NodeJS.ProcessEnv): { runner: number; pool: string | null } {
  return { runner: process.pid, pool: variable(environment, 'POOLWRIGHT_POOL') ?? null };
}
