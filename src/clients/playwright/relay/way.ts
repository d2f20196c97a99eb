import { RELAY_SECRET } from '../../../relay/relay-token.ts';
import { checkRelay } from './check-relay.ts';

export { openThroughRelay as open } from './open-through-relay.ts';

export async function check(address: string, playwright: string): Promise<void> {
  await checkRelay(address, playwright, process.env[RELAY_SECRET]);
}
