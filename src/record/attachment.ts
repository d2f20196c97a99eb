import * as z from 'zod';
import { bytes, count, moment, shard } from './fields.ts';
import { sessionRecord, testRecord } from './run-record.ts';

/** The `hosted-browser` attachment (JSON). Holds no secret. */
export const hostedBrowserAttachment = z.object({
  schema: z.literal(1),
  ...sessionRecord.pick({ sessionId: true, leaseId: true, poolId: true, servedBy: true }).shape,
  project: testRecord.shape.project,
  workerIndex: count,
  parallelIndex: count,
  shard,
  /** ISO 8601. */
  startedAt: moment,
  endedAt: moment,
  /** Bytes this test's pages moved, as the browser reported them; null without metering. */
  observedBytes: bytes.nullable(),
  /** The service's own figure for the session; null while it has none. */
  bandwidthBytes: bytes.nullable(),
  /** Whether another worker used this browser before. */
  reused: z.boolean(),
  /** Null, or why the browser was lost. */
  infrastructureFailure: testRecord.shape.infrastructureFailure,
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
