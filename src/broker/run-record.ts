import { z } from 'zod';

/** `<outputDir>/poolwright/run.json`: one record per session of a run. */

export const endReasons = [
  'finished',
  'idle',
  'unhealthy',
  'worker-died',
  'connect-failed',
  'expired',
  'rolled-over',
  'lost',
  'run-ended',
] as const;

export const sessionRecord = z.object({
  sessionId: z.string(),
  leaseId: z.string().nullable(),
  poolId: z.string().nullable(),
  servedBy: z.string().nullable(),
  source: z.enum(['pool', 'session']),
  project: z.string(),
  parallelIndex: z.number().int(),
  /** ISO 8601. */
  requestedAt: z.string(),
  startedAt: z.string(),
  endedAt: z.string().nullable(),
  /** ms from asking the service for it to having it. */
  startMs: z.number(),
  /** ms its first worker waited for it; 0 where it was fetched ahead in time. */
  waitMs: z.number(),
  endReason: z.enum(endReasons).nullable(),
  /** Whether the service confirmed the stop or release. */
  endConfirmed: z.boolean(),
  testsServed: z.number().int(),
  workersServed: z.number().int(),
  /** Bytes its tests' pages moved, as the browser reported them. */
  observedBytes: z.number(),
  /** Bytes by the service's own meter, asked for after the stop; null when it gave none. */
  bandwidthBytes: z.number().nullable(),
  infrastructureFailures: z.array(z.string()),
});

export const runRecord = z.object({
  schema: z.literal(1),
  runId: z.string(),
  service: z.enum(['hosted', 'emulator']),
  shard: z.object({ current: z.number(), total: z.number() }).nullable(),
  startedAt: z.string(),
  endedAt: z.string(),
  sessions: z.array(sessionRecord),
  /** Failures to get a browser, one line each. */
  leaseFailures: z.array(z.string()),
});

export type EndReason = (typeof endReasons)[number];
export type SessionRecord = z.infer<typeof sessionRecord>;
export type RunRecord = z.infer<typeof runRecord>;
