import * as z from 'zod';
import type { BrowserIdentity } from './browser-identity.ts';

/** {@link BrowserIdentity} on the wire and in files: schemas take its `shape`, so that the fields keep their order. */
export const browserIdentity = z.object({
  sessionId: z.string(),
  leaseId: z.string().nullable(),
  poolId: z.string().nullable(),
  servedBy: z.string().nullable(),
}) satisfies z.ZodType<BrowserIdentity>;
