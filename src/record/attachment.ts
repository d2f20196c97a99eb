import * as z from 'zod';
import { browserIdentity } from '../common/browser-identity-schema.ts';

/** The `hosted-browser` attachment (JSON). Holds no secret. */
export const hostedBrowserAttachment = z.object({
  schema: z.literal(1),
  ...browserIdentity.shape,
  project: z.string(),
  workerIndex: z.number().int(),
  parallelIndex: z.number().int(),
  shard: z.object({ current: z.number().int(), total: z.number().int() }).nullable(),
  /** ISO 8601. */
  startedAt: z.string(),
  endedAt: z.string(),
  /** Bytes this test's pages moved, as the browser reported them; null without metering. */
  observedBytes: z.number().nullable(),
  /** The service's own figure for the session; null while it has none. */
  bandwidthBytes: z.number().nullable(),
  /** Whether another worker used this browser before. */
  reused: z.boolean(),
  /** Null, or why the browser was lost. */
  infrastructureFailure: z.string().nullable(),
});

/** What is attached to every test that used a hosted browser, as `hosted-browser` (JSON). Holds no secret. */
export type HostedBrowserAttachment = z.infer<typeof hostedBrowserAttachment>;

/** Reads an attachment; null when it is not one of this version. */
export function readAttachment(body: Buffer): HostedBrowserAttachment | null {
  try {
    return hostedBrowserAttachment.parse(JSON.parse(body.toString('utf8')));
  } catch {
    return null;
  }
}
