import { OptionsError } from '../errors.ts';
import { DEFAULTS } from './defaults.ts';
import { type Environment, inContinuousIntegration, variable } from './environment.ts';
import type { HostedOptions } from './schema/schema.ts';

/** Which service a run talks to. */
export type ServiceChoice =
  | { kind: 'hosted'; baseURL: string; apiKey: string }
  /** `chosenBy`: why it is the emulator, for the line that says so. */
  | { kind: 'emulator'; chosenBy: 'option' | 'no-key' };

function missing(name: 'POOLWRIGHT_API_KEY' | 'POOLWRIGHT_BASE_URL', option: string, why: string): OptionsError {
  return new OptionsError(
    name,
    `${name} is not set, and ${why}. Set the variable, pass \`${option}\`, or choose \`service: 'emulator'\` to run on browsers of this machine.`,
    'ENVIRONMENT_MISSING',
  );
}

/**
 * Decides between the hosted service and the emulator (option `service`).
 * @throws OptionsError when the hosted service is meant and its address or key is missing.
 */
export function resolveService(options: HostedOptions, environment: Environment): ServiceChoice {
  const service = options.service ?? DEFAULTS.service;
  if (service === 'emulator') return { kind: 'emulator', chosenBy: 'option' };

  const apiKey = options.apiKey ?? variable(environment, 'POOLWRIGHT_API_KEY');
  if (!apiKey && service === 'auto') {
    if (!inContinuousIntegration(environment)) return { kind: 'emulator', chosenBy: 'no-key' };
    throw missing('POOLWRIGHT_API_KEY', 'apiKey', 'in CI no emulator is started unasked');
  }
  return hostedService(options, environment);
}

/**
 * The hosted service that options and environment name.
 * @throws OptionsError when its address or key is missing.
 */
export function hostedService(
  options: Pick<HostedOptions, 'baseURL' | 'apiKey'>,
  environment: Environment,
): Extract<ServiceChoice, { kind: 'hosted' }> {
  const apiKey = options.apiKey ?? variable(environment, 'POOLWRIGHT_API_KEY');
  const baseURL = options.baseURL ?? variable(environment, 'POOLWRIGHT_BASE_URL');
  if (!apiKey) throw missing('POOLWRIGHT_API_KEY', 'apiKey', 'the hosted service is asked for');
  if (!baseURL) throw missing('POOLWRIGHT_BASE_URL', 'baseURL', 'the key needs a base URL');
  if (!/^https?:\/\//i.test(baseURL) || !URL.canParse(baseURL)) {
    throw new OptionsError(
      'POOLWRIGHT_BASE_URL',
      `\`baseURL\` must be an http:// or https:// address, got "${baseURL}".`,
    );
  }
  return { kind: 'hosted', baseURL: baseURL.replace(/\/+$/, ''), apiKey };
}
