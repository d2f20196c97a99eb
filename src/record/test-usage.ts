import * as z from 'zod';
import { bytes, milliseconds, text } from './fields.ts';
import { testRecord } from './run-record.ts';

/** What a worker reports of a test's use of one browser. */
export const testUsage = z.object({
  sessionId: text,
  test: testRecord,
  /** What its pages moved through the test machine since the worker's last report of that browser. */
  bridgedBytes: bytes,
  /** How far away the browser is, in ms; null: nobody has measured. */
  roundTripMs: milliseconds.nullable(),
  /** Origins of the test machine that tests of that browser went to themselves so far. */
  carriedOrigins: z.array(text),
});

export type TestUsage = z.infer<typeof testUsage>;
