import { type Environment, holdsFailures } from '../options/environment.ts';
import type { MergedOptions } from '../options/lease-plan.ts';
import type { Feature, FeatureSetting, FeatureSettings } from './feature.ts';

/**
 * The features of a worker, one line each. In the order of this list they learn of a failed test: what keeps its pages
 * as they are comes before a person is let into them.
 */
export const FEATURES: Readonly<Record<string, Feature>> = {
  evidence: { setting: ({ evidence }) => evidence, load: () => import('./evidence/evidence.ts') },
  film: { setting: ({ film }) => film, load: () => import('./film/feature.ts') },
  watch: { setting: () => true, load: () => import('./watch/watched-worker.ts') },
  hold: { setting: (_, environment) => holdsFailures(environment), load: () => import('./hold/holds.ts') },
};

/** What the workers of a run need to know. @throws OptionsError for an invalid variable of the environment */
export function featureSettings(options: MergedOptions, environment: Environment): FeatureSettings {
  const all = Object.entries(FEATURES).map(([name, { setting }]) => [name, setting(options, environment) ?? 'off']);
  const isOn = ([, setting]: unknown[]) => setting !== false && setting !== 'off';
  return Object.fromEntries(all.filter(isOn)) as Record<string, FeatureSetting>;
}
