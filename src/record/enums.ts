/** Closed sets of a record's fields. Separate from its schemas, so that workers do not load zod. */

/** What runs the tests; `exec`: any command. A script that leases a browser itself has no runner. */
export const runners = ['playwright', 'vitest', 'jest', 'mocha', 'node-test', 'exec'] as const;

/** Where the browsers of a run come from. */
export const services = ['hosted', 'emulator', 'browsers', 'provider'] as const;

export const testStatuses = ['passed', 'failed', 'timedOut', 'skipped', 'interrupted'] as const;

/** Why a browser's lease ended. */
export const endReasons = [
  'finished',
  'idle',
  'worker-died',
  'connect-failed',
  'expired',
  'rolled-over',
  'lost',
  'run-ended',
  'broker-died',
] as const;

/** How a hold ended. */
export const holdEnds = ['released', 'time-limit', 'lease-end', 'interrupted'] as const;

export type Runner = (typeof runners)[number];
/** Why a browser's lease ended. */
export type EndReason = (typeof endReasons)[number];
export type HoldEnd = (typeof holdEnds)[number];
