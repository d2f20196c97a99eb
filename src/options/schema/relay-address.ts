import { got } from '../../common/text/shown-fields.ts';
import { OptionsError } from '../../errors.ts';
import { type Environment, variable } from '../environment.ts';

const LOOPBACK = /^(localhost|127(\.\d+){3}|::1|\[::1\])$/;

/** Whether a relay may listen on this host, or be reached there, without TLS. Never 0.0.0.0: others reach it. */
export function needsNoTls(host: string): boolean {
  return LOOPBACK.test(host);
}

const NONE = 'none';

/** What is wrong with the address of a relay; null if it is valid. Addresses of browsers cross the connection. */
export function relayProblem(address: string): string | null {
  if (address === NONE) return null;
  if (!URL.canParse(address)) return 'must be a wss:// address';
  const { protocol, hostname, username, password, search } = new URL(address);
  if (username || password || search) return 'must not contain credentials or a query: set POOLWRIGHT_RELAY_SECRET';
  if (protocol === 'wss:' || (protocol === 'ws:' && needsNoTls(hostname))) return null;
  return 'must be a wss:// address; ws:// is for a relay on this machine';
}

/**
 * The address of the relay; undefined: none. The option overrides `POOLWRIGHT_RELAY`.
 * @throws OptionsError for an invalid variable
 */
export function relayAddress(option: string | undefined, environment: Environment): string | undefined {
  const address = option ?? variable(environment, 'POOLWRIGHT_RELAY');
  if (address === undefined || address === NONE) return undefined;
  const problem = relayProblem(address);
  if (problem !== null) {
    throw new OptionsError('POOLWRIGHT_RELAY', `POOLWRIGHT_RELAY ${problem}${got('POOLWRIGHT_RELAY', address)}.`);
  }
  return address;
}
