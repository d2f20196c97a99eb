import { got } from '../common/text/shown-fields.ts';
import { OptionsError } from '../errors.ts';
import { SERVICES, type ServiceName } from './defaults.ts';

/** The environment variables poolwright reads. Read when asked, never at import. */
export interface Environment {
  POOLWRIGHT_SERVICE?: string | undefined;
  POOLWRIGHT_BASE_URL?: string | undefined;
  POOLWRIGHT_API_KEY?: string | undefined;
  POOLWRIGHT_CDP_URL?: string | undefined;
  POOLWRIGHT_PROVIDER?: string | undefined;
  POOLWRIGHT_POOL?: string | undefined;
  POOLWRIGHT_WORKERS?: string | undefined;
  POOLWRIGHT_AHEAD?: string | undefined;
  POOLWRIGHT_HOLD?: string | undefined;
  POOLWRIGHT_RELAY?: string | undefined;
  CI?: string | undefined;
}

/** The value of a variable; an empty one counts as not set. */
export function variable(environment: Environment, name: keyof Environment): string | undefined {
  const value = environment[name];
  return value === '' ? undefined : value;
}

/**
 * The value of `POOLWRIGHT_AHEAD`, which overrides the option; undefined unless set.
 * @throws OptionsError when it is none of `0`, `false`, `1` and `true`
 */
export function aheadVariable(environment: Environment): boolean | undefined {
  const value = variable(environment, 'POOLWRIGHT_AHEAD');
  if (value === undefined) return undefined;
  if (/^(1|true)$/.test(value)) return true;
  if (/^(0|false)$/.test(value)) return false;
  throw new OptionsError(
    'POOLWRIGHT_AHEAD',
    `POOLWRIGHT_AHEAD must be 0 or 1${got('POOLWRIGHT_AHEAD', value)}. 0 turns \`ahead\` off, 1 turns it on; without the variable, the option decides.`,
  );
}

/**
 * The value of `POOLWRIGHT_WORKERS`; undefined unless set.
 * @throws OptionsError when it is neither a number nor `auto`
 */
export function workersVariable(environment: Environment): number | 'auto' | undefined {
  const value = variable(environment, 'POOLWRIGHT_WORKERS');
  if (value === undefined || value === 'auto') return value;
  if (/^[1-9]\d{0,4}$/.test(value)) return Number(value);
  throw new OptionsError(
    'POOLWRIGHT_WORKERS',
    `POOLWRIGHT_WORKERS must be a number or auto${got('POOLWRIGHT_WORKERS', value)}.`,
  );
}

/**
 * Whether failed tests are put on hold, by `POOLWRIGHT_HOLD`.
 * @throws OptionsError when it is not `failure`
 */
export function holdsFailures(environment: Environment): boolean {
  const value = variable(environment, 'POOLWRIGHT_HOLD');
  if (value === undefined || value === 'failure') return value !== undefined;
  throw new OptionsError(
    'POOLWRIGHT_HOLD',
    `POOLWRIGHT_HOLD must be failure${got('POOLWRIGHT_HOLD', value)}. It keeps the pages of failed tests open until you release them; without the variable, they close.`,
  );
}

/**
 * The value of `POOLWRIGHT_SERVICE`; undefined unless set.
 * @throws OptionsError when it names no service
 */
export function serviceVariable(environment: Environment): ServiceName | undefined {
  const value = variable(environment, 'POOLWRIGHT_SERVICE');
  const service = SERVICES.find((name) => name === value);
  if (value === undefined || service) return service;
  throw new OptionsError(
    'POOLWRIGHT_SERVICE',
    `POOLWRIGHT_SERVICE must be one of ${SERVICES.join(', ')}${got('POOLWRIGHT_SERVICE', value)}.`,
  );
}

/** Whether this is a CI run: `CI` set to anything but `false` or `0`. */
export function inContinuousIntegration(environment: Environment): boolean {
  const value = variable(environment, 'CI');
  return value !== undefined && value !== 'false' && value !== '0';
}
