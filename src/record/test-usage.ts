import * as z from 'zod';
import { bytes, milliseconds, text } from './fields.ts';
import { testRecord } from './run-record.ts';

/** What a worker reports about a test's use of one browser. */
export const testUsage = z.object({
  sessionId: text,
  test: testRecord,
  /** Bytes that pages moved through the test machine since the worker's last report about that browser. */
  bridgedBytes: bytes,
  /** Bytes of pictures of its pages since then. */
  pictureBytes: bytes,
  /** Round-trip time to the browser in ms; null: not measured. */
  roundTripMs: milliseconds.nullable(),
  /** Origins of the test machine that tests of that browser have navigated to so far. */
  carriedOrigins: z.array(text),
});

export type TestUsage = z.infer<typeof testUsage>;
