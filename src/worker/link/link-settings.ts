import type { ContextOption } from '../../options/context-mode.ts';
import { DEFAULTS } from '../../options/defaults.ts';
import { aheadVariable, type Environment } from '../../options/environment.ts';
import type { IdentityOption } from '../../options/identity.ts';
import type { MergedOptions } from '../../options/lease-plan.ts';

/** What a worker needs of a project's options for its links: the broker has the rest. */
export interface LinkSettings {
  metering: boolean;
  /** Whether round trips are hidden. */
  ahead: boolean;
  /** Whether several tests use a browser one after the other. */
  sharesBrowser: boolean;
  /** What pages reach through this machine, as the option says it with `auto` made out. */
  exposeNetwork: string;
  context: ContextOption;
  identity: IdentityOption | undefined;
}

/** Fills in the defaults. @param exposeNetwork with `auto` made out */
export function linkSettings(options: MergedOptions, exposeNetwork: string, environment: Environment): LinkSettings {
  return {
    metering: options.metering ?? DEFAULTS.metering,
    ahead: aheadVariable(environment) ?? options.ahead ?? DEFAULTS.ahead,
    sharesBrowser: (options.reuse ?? DEFAULTS.reuse) !== 'test',
    exposeNetwork,
    context: options.context ?? DEFAULTS.context,
    identity: options.identity,
  };
}
