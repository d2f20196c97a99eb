/** The environment variables poolwright reads. Read when asked, never at import. */
export interface Environment {
  POOLWRIGHT_BASE_URL?: string | undefined;
  POOLWRIGHT_API_KEY?: string | undefined;
  POOLWRIGHT_POOL?: string | undefined;
  POOLWRIGHT_AHEAD?: string | undefined;
  CI?: string | undefined;
}

/** The value of a variable; an empty one counts as not set. */
export function variable(environment: Environment, name: keyof Environment): string | undefined {
  const value = environment[name];
  return value === '' ? undefined : value;
}

/** What `POOLWRIGHT_AHEAD` says, whatever the options do: `0` or `false`, anything else for yes; undefined unless set. */
export function aheadVariable(environment: Environment): boolean | undefined {
  const value = variable(environment, 'POOLWRIGHT_AHEAD');
  return value === undefined ? undefined : value !== '0' && value !== 'false';
}

/** Whether this is a CI run: `CI` set to anything but `false` or `0`. */
export function inContinuousIntegration(environment: Environment): boolean {
  const value = variable(environment, 'CI');
  return value !== undefined && value !== 'false' && value !== '0';
}
