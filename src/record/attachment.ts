import * as z from 'zod';
import { parsedJson } from '../common/text/parsed-json.ts';
import { bytes, count, shard, timestamp } from './fields.ts';
import { sessionRecord, testRecord } from './run-record.ts';

/** Schema of the `hosted-browser` attachment (JSON). Contains no secrets. */
export const hostedBrowserAttachment = z.object({
  schema: z.literal(1),
  ...sessionRecord.pick({ sessionId: true, leaseId: true, poolId: true, servedBy: true }).shape,
  project: testRecord.shape.project,
  workerIndex: count,
  parallelIndex: count,
  shard,
  /** ISO 8601. */
  startedAt: timestamp,
  endedAt: timestamp,
  /** Bytes that this test's pages moved, as the browser reported them; null without metering. */
  observedBytes: bytes.nullable(),
  /** Bytes that they sent and received through the test machine (`exposeNetwork`); null: unknown. */
  proxiedBytes: testRecord.shape.proxiedBytes,
  /** How many of these they sent. */
  proxiedSentBytes: testRecord.shape.proxiedSentBytes,
  /** The service's figure for the session; null if it has none. */
  bandwidthBytes: bytes.nullable(),
  /** Whether another worker used this browser before. */
  reused: z.boolean(),
  /** Why the browser was lost, or null. */
  infrastructureFailure: testRecord.shape.infrastructureFailure,
});

/** The `hosted-browser` attachment (JSON) of every test that used a hosted browser. Contains no secrets. */
export type HostedBrowserAttachment = z.infer<typeof hostedBrowserAttachment>;

/** Reads an attachment; null if it is invalid or of another version. */
export function readAttachment(body: Buffer): HostedBrowserAttachment | null {
  return hostedBrowserAttachment.safeParse(parsedJson(body.toString('utf8'))).data ?? null;
}
