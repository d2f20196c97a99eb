import * as z from 'zod';

/** How Playwright Test's shards are balanced. */
export const shardsOption = z.union([z.literal(false), z.strictObject({ timings: z.string().min(1).optional() })]);

/** How shards are balanced. */
export interface ShardsOption {
  /** A file of timings, relative to the config. Default: `poolwright-timings.json` beside the config. */
  timings?: string;
}
