import type { FullConfig } from '@playwright/test';
import { RELAY_SECRET } from '../../../common/relay/relay-token.ts';
import { relayAddress } from '../../../options/schema/relay-address.ts';
import type { WrappedProject } from '../config/run-registry.ts';

/** Checks the relays of a run's projects, before any browser is requested. @throws OptionsError, LeaseError */
export async function checkRelays({ version }: FullConfig, projects: readonly WrappedProject[]): Promise<void> {
  const addresses = new Set(projects.flatMap(({ options }) => relayAddress(options.relay, process.env) ?? []));
  if (addresses.size === 0) return;
  const { checkRelay } = await import('../../../clients/playwright/relay/check-relay.ts');
  await Promise.all([...addresses].map((address) => checkRelay(address, version, process.env[RELAY_SECRET])));
}
