import * as z from 'zod';

/** What a run may use; more makes it fail. Checked by the reporter when everything has ended. */
export const budgetOption = z.strictObject({
  bandwidthMB: z.number().nonnegative().optional(),
  proxiedMB: z.number().nonnegative().optional(),
  sessions: z.number().int().nonnegative().optional(),
  costCents: z.number().nonnegative().optional(),
});

/** A run's budget; missing fields are unlimited. */
export interface Budget {
  /**
   * Megabytes (1 000 000 bytes) by the service's figures; for a session without one, the bytes observed in its tests.
   */
  bandwidthMB?: number;
  /** Megabytes that pages move through the test machine (`exposeNetwork`), which no figure of the service includes. */
  proxiedMB?: number;
  /** Browsers, leased and created. */
  sessions?: number;
  /** How far the workspace's balance may fall during the run, in cents, including other use of the workspace. */
  costCents?: number;
}

/** How Playwright Test's shards are balanced. */
export const shardsOption = z.union([z.literal(false), z.strictObject({ timings: z.string().min(1).optional() })]);

/** How shards are balanced. */
export interface ShardsOption {
  /** A file of timings, relative to the config. Default: `poolwright-timings.json` beside the config. */
  timings?: string;
}
