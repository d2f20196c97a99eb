import * as z from 'zod';
import { MOST_CENTS, MOST_CHARACTERS, MOST_COUNT, MOST_MS, MOST_SHARDS } from './bounds.ts';

/** Kinds of fields of a record, apart from their bounds: who writes records loads no zod. */

export const text = z.string().max(MOST_CHARACTERS);
/** ISO 8601 in UTC, so that texts sort as times do. */
export const moment = z.iso.datetime().max(40);
export const milliseconds = z.number().min(0).max(MOST_MS);
export const bytes = z.number().min(0).max(Number.MAX_SAFE_INTEGER);
export const count = z.number().int().min(0).max(MOST_COUNT);
export const cents = z.number().min(-MOST_CENTS).max(MOST_CENTS);
export const shard = z
  .object({
    current: z.number().int().min(1).max(MOST_SHARDS),
    total: z.number().int().min(1).max(MOST_SHARDS),
  })
  .refine(({ current, total }) => current <= total, 'current must not be more than total')
  .nullable();
