import { createHash } from 'node:crypto';
import { DEFAULTS } from './defaults.ts';
import { aheadVariable, type Environment, variable } from './environment.ts';
import { exposedNetwork, type SuiteAddresses } from './expose-network.ts';
import type { ConnectionSettings, LeasePlan } from './schema/plan.ts';
import { relayAddress } from './schema/relay-address.ts';
import type { HostedOptions, ProjectHostedOptions } from './schema/schema.ts';

/** The options of a project with their defaults filled in: for the broker, and for the workers' connections. */

/**
 * Options of the run and of one project laid over each other; `pool: null` means: create, whatever the environment
 * says.
 */
export type MergedOptions = Omit<HostedOptions, 'pool'> & { pool?: HostedOptions['pool'] | null };

/** A project's own options over those of the run. A project that names `session` but no `pool` creates sessions. */
export function mergeOptions(run: MergedOptions, project: ProjectHostedOptions): MergedOptions {
  const merged: MergedOptions = { ...run, ...definedOnly(project) };
  if (project.session !== undefined && project.pool === undefined) merged.pool = null;
  return merged;
}

/** The pool that browsers are leased from; null: sessions are created. */
export function poolOf({ pool }: MergedOptions, environment: Environment): LeasePlan['pool'] {
  return (pool === undefined ? variable(environment, 'POOLWRIGHT_POOL') : pool) ?? null;
}

/** The broker's part, with the environment. */
export function leasePlan(options: MergedOptions, environment: Environment): LeasePlan {
  return {
    pool: poolOf(options, environment),
    fallback: options.fallback ?? DEFAULTS.fallback,
    session: options.session ?? {},
    reuse: options.reuse ?? DEFAULTS.reuse,
    acquireTimeout: options.acquireTimeout ?? DEFAULTS.acquireTimeout,
  };
}

/** The worker's part, with the environment. @param suite where the suite's server is, if its config tells */
export function connectionSettings(
  options: MergedOptions,
  environment: Environment,
  suite: SuiteAddresses = {},
): ConnectionSettings {
  return {
    reuse: options.reuse ?? DEFAULTS.reuse,
    metering: options.metering ?? DEFAULTS.metering,
    ahead: aheadVariable(environment) ?? options.ahead ?? DEFAULTS.ahead,
    exposeNetwork: exposedNetwork(options.exposeNetwork, suite),
    context: options.context ?? DEFAULTS.context,
    identity: options.identity,
    way: wayOf(options, environment),
  };
}

/** The option that names another way to the browser, if one does. @throws OptionsError for an invalid address */
export function wayOf({ relay }: MergedOptions, environment: Environment): ConnectionSettings['way'] {
  const address = relayAddress(relay, environment);
  return address === undefined ? undefined : { name: 'relay', address };
}

/** Plans with the same key can share browsers. */
export function planKey(plan: LeasePlan): string {
  // `fallback` too: a session that stood in for an empty pool is not what a project with `fallback: 'fail'` asked for.
  const { pool, session, fallback } = plan;
  return createHash('sha256').update(canonicalJson({ pool, session, fallback })).digest('hex').slice(0, 16);
}

function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (value && typeof value === 'object') {
    const entries = Object.entries(value)
      .filter(([, item]) => item !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1));
    return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonicalJson(item)}`).join(',')}}`;
  }
  return JSON.stringify(value) ?? 'null';
}

function definedOnly<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined)) as T;
}
