import type { BrokerFeatureModule } from './feature.ts';

/** The features of a broker, one line each. They load with this file, before the broker has its run. */
export const FEATURES: Readonly<Record<string, Promise<BrokerFeatureModule>>> = {
  watch: import('./watch/feature.ts'),
};
