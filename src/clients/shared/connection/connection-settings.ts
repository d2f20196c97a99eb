import type { FilmOption } from '../../../film/film.ts';
import type { ContextOption } from '../../../options/context-mode.ts';
import { DEFAULTS } from '../../../options/defaults.ts';
import { aheadVariable, type Environment } from '../../../options/environment.ts';
import type { IdentityOption } from '../../../options/identity.ts';
import type { MergedOptions } from '../../../options/lease-plan.ts';

/** The options of a project that a worker needs for its connections. The broker has the others. */
export interface ConnectionSettings {
  metering: boolean;
  /** Whether latency is hidden. */
  ahead: boolean;
  /** Which tests get a film of their pages. */
  film: FilmOption;
  /** Whether several tests use a browser one after the other. */
  sharesBrowser: boolean;
  /** Which servers and files of this machine pages reach: the value of the option, with `auto` resolved. */
  exposeNetwork: string;
  context: ContextOption;
  identity: IdentityOption | undefined;
}

/** Fills in the defaults. @param exposeNetwork with `auto` resolved */
export function connectionSettings(
  options: MergedOptions,
  exposeNetwork: string,
  environment: Environment,
): ConnectionSettings {
  return {
    metering: options.metering ?? DEFAULTS.metering,
    ahead: aheadVariable(environment) ?? options.ahead ?? DEFAULTS.ahead,
    film: options.film ?? DEFAULTS.film,
    sharesBrowser: (options.reuse ?? DEFAULTS.reuse) !== 'test',
    exposeNetwork,
    context: options.context ?? DEFAULTS.context,
    identity: options.identity,
  };
}
