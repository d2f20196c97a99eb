/** Defaults of options, and other facts that are needed without their schemas. */

/** Bounds and default of `acquireTimeout`. */
export const ACQUIRE_TIMEOUT_MS = { min: 1_000, max: 3_600_000, default: 120_000 } as const;

/** What a run can run on: values of the option `service` and of `POOLWRIGHT_SERVICE`. */
export const SERVICES = ['auto', 'hosted', 'emulator', 'local'] as const;

export type ServiceName = (typeof SERVICES)[number];

/** Defaults, stated once. */
export const DEFAULTS = {
  service: 'auto',
  fallback: 'session',
  reuse: 'run',
  acquireTimeout: ACQUIRE_TIMEOUT_MS.default,
  metering: true,
  ahead: true,
  film: 'off',
  context: 'auto',
  evidence: true,
} as const;

/** The keys that hold for the whole run and so cannot differ by project. */
export const RUN_WIDE_KEYS = [
  'service',
  'browsers',
  'provider',
  'baseURL',
  'apiKey',
  'budget',
  'workers',
  'shards',
] as const;
