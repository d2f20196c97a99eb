import * as z from 'zod';

/** What a run may use; more makes it fail. Checked by the reporter when everything has ended. */
export const budgetOption = z.strictObject({
  bandwidthMB: z.number().nonnegative().optional(),
  sessions: z.number().int().nonnegative().optional(),
  costCents: z.number().nonnegative().optional(),
});

/** A run's budget; what is left out is not limited. */
export interface Budget {
  /** Megabytes (1 000 000 bytes) by the service's figures; of a session without one, what its tests' pages moved. */
  bandwidthMB?: number;
  /** Browsers, leased and created. */
  sessions?: number;
  /** What the workspace's balance may fall by from the run's start to its end, in cents, whoever uses it meanwhile. */
  costCents?: number;
}
