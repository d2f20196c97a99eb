import * as z from 'zod';
import { LIMITS } from '../limits.ts';
import { browserFields } from './fields.ts';

/** Pools and leases: sections 2.2, 2.3, 3.2, 3.3, 4.4, 4.5, 4.8 of the service document. */

/** Section 3.2. */
export const poolStatuses = ['warming', 'ready', 'degraded', 'paused', 'deleting'] as const;

/**
 * The browser settings of a pool: a create body without `type`, `duration` and `browserCheck`, plus the template's own.
 */
export const poolBrowserTemplate = z.strictObject({
  ...browserFields,
  acceptLang: z.string().optional(),
  ttsLanguage: z.string().optional(),
  disableSpeechApi: z.boolean().optional(),
  gpu: z.string().optional(),
  tags: z.array(z.string()).optional(),
});

const leaseTimeoutSeconds = z.int().min(LIMITS.leaseTimeoutSeconds.min).max(LIMITS.leaseTimeoutSeconds.max);
const maxReadyAgeSeconds = z.int().min(LIMITS.maxReadyAgeSeconds.min).max(LIMITS.maxReadyAgeSeconds.max);
const poolName = z.string().min(LIMITS.poolName.min).max(LIMITS.poolName.max);

/** Body of `POST /v1/browser/pools`. */
export const createPoolRequest = z.strictObject({
  name: poolName,
  size: z.int().positive().describe('Number of warm browsers wanted.'),
  browser: poolBrowserTemplate.optional(),
  leaseTimeoutSeconds: leaseTimeoutSeconds.optional().describe('Seconds a lease may last. Default 900.'),
  maxReadyAgeSeconds: maxReadyAgeSeconds.optional().describe('Seconds a warm browser may wait. Default 3600.'),
});

/** Body of `PATCH /v1/browser/pools/{poolId}`. `browser` replaces the whole template. */
export const updatePoolRequest = z.strictObject({
  name: poolName.optional(),
  size: z.int().positive().optional(),
  browser: poolBrowserTemplate.optional(),
  leaseTimeoutSeconds: leaseTimeoutSeconds.optional(),
  maxReadyAgeSeconds: maxReadyAgeSeconds.optional(),
  paused: z.boolean().optional().describe('true stops the warm browsers and refuses acquires; false warms again.'),
});

/** Body of `POST /v1/browser/pools/{poolId}/acquire`. */
export const acquireRequest = z.strictObject({
  waitMs: z
    .int()
    .min(LIMITS.waitMs.min)
    .max(LIMITS.waitMs.max)
    .optional()
    .describe('How long the service waits for a ready browser, in ms. Default 0.'),
});

/** Body of `POST /v1/browser/pools/{poolId}/release`. */
export const releaseRequest = z.strictObject({ leaseId: z.string().min(1) });

/** A pool's ID, 6 to 80 characters. */
export const poolId = z.string().min(LIMITS.poolId.min).max(LIMITS.poolId.max);

/** A pool as the service returns it; unknown fields pass. */
export const pool = z.looseObject({
  id: z.string().min(1),
  name: z.string(),
  size: z.number(),
  status: z.string(),
  ready: z.number().nullish(),
  starting: z.number().nullish(),
  leased: z.number().nullish(),
  browser: z.looseObject({}).nullish(),
  leaseTimeoutSeconds: z.number().nullish(),
  maxReadyAgeSeconds: z.number().nullish(),
  lastError: z.string().nullish(),
  createdAt: z.string().nullish(),
  updatedAt: z.string().nullish(),
});

/** Response to `GET /v1/browser/pools`. */
export const poolList = z.looseObject({ pools: z.array(pool) });

/**
 * The response to an acquire is not shown in the document; `cdpUrl` may be absent, beside the IDs or inside `session`.
 */
export const acquireResponse = z.looseObject({
  leaseId: z.string().min(1),
  sessionId: z.string().min(1).nullish(),
  cdpUrl: z.string().nullish(),
  servedBy: z.string().nullish(),
  createdAt: z.string().nullish(),
  session: z
    .looseObject({
      sessionId: z.string().nullish(),
      cdpUrl: z.string().nullish(),
      servedBy: z.string().nullish(),
      createdAt: z.string().nullish(),
    })
    .nullish(),
});

/** Response to a release (section 2.3); `status` is open (section 3.3). */
export const releaseResponse = z.looseObject({
  poolId: z.string().nullish(),
  leaseId: z.string(),
  sessionId: z.string().nullish(),
  status: z.string().nullish(),
  returnedAt: z.string().nullish(),
});

/** Its fields are not shown in the document. */
export const flushResponse = z.looseObject({});
/** Its fields are not shown in the document. */
export const deletePoolResponse = z.looseObject({});

/** The statuses that the document lists; {@link Pool} leaves room for more. */
export type PoolStatus = (typeof poolStatuses)[number];
/** Browser settings of a pool (section 2.2). */
export type PoolBrowserTemplate = z.input<typeof poolBrowserTemplate>;
/** What a pool is created with; `leaseTimeoutSeconds` and `maxReadyAgeSeconds` in seconds, 30 to 86 400. */
export type CreatePoolRequest = z.input<typeof createPoolRequest>;
/** The changes that a pool allows. */
export type UpdatePoolRequest = z.input<typeof updatePoolRequest>;
/** `waitMs`: ms, 0 to 30 000, default 0. */
export type AcquireRequest = z.input<typeof acquireRequest>;
/** A pool (section 2.2). */
export type Pool = z.output<typeof pool>;
/** A lease after its release (section 2.3). */
export type ReleasedLease = z.output<typeof releaseResponse>;
/** Response to a flush. */
export type FlushedPool = z.output<typeof flushResponse>;
