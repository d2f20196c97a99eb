import * as v from 'valibot';
import type { BrowserIdentity } from './browser-identity.ts';

/** The fields of {@link BrowserIdentity} on the wire and in files. */
export const browserIdentity = {
  sessionId: v.string(),
  leaseId: v.nullable(v.string()),
  poolId: v.nullable(v.string()),
  servedBy: v.nullable(v.string()),
} satisfies Record<keyof BrowserIdentity, v.GenericSchema>;
