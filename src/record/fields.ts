import * as z from 'zod';
import { MAX_CENTS, MAX_CHARACTERS, MAX_COUNT, MAX_MS, MAX_SHARDS } from './bounds.ts';

/** Field types of a record. Separate from their limits, so that writing a record does not load zod. */

export const text = z.string().max(MAX_CHARACTERS);
/** ISO 8601 in UTC, so that the strings sort by time. */
export const timestamp = z.iso.datetime().max(40);
export const milliseconds = z.number().min(0).max(MAX_MS);
export const bytes = z.number().min(0).max(Number.MAX_SAFE_INTEGER);
export const count = z.number().int().min(0).max(MAX_COUNT);
export const cents = z.number().min(-MAX_CENTS).max(MAX_CENTS);
export const shard = z
  .object({
    current: z.number().int().min(1).max(MAX_SHARDS),
    total: z.number().int().min(1).max(MAX_SHARDS),
  })
  .refine(({ current, total }) => current <= total, 'current must not be more than total')
  .nullable();
