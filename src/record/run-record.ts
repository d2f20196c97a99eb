import * as z from 'zod';
import { MOST_MERGED } from './bounds.ts';
import { bytes, cents, count, milliseconds, moment, shard, text } from './fields.ts';

/**
 * `<outputDir>/poolwright/run.json`: what a run did with hosted browsers. Published as `schemas/run.schema.json`, which
 * `npm run schema` writes from here. Times are ISO 8601, of the machine that ran the tests.
 */

const endReasons = [
  'finished',
  'idle',
  'worker-died',
  'connect-failed',
  'expired',
  'rolled-over',
  'lost',
  'run-ended',
  'broker-died',
] as const;

/** What runs the tests; a script that leases a browser by itself has none. */
export const runners = ['playwright', 'vitest', 'jest', 'mocha', 'node-test'] as const;

export const testStatuses = ['passed', 'failed', 'timedOut', 'skipped', 'interrupted'] as const;

const service = z.enum(['hosted', 'emulator']).nullable();

/** One try of a test on one browser; a test that changed its browser half-way is with each. */
export const testRecord = z.object({
  id: text.describe("The runner's ID of the test; Playwright's is `index.html#?testId=<id>` in its HTML report"),
  title: text.describe('`describe › test`'),
  file: text.describe("Relative to the runner's root folder, with `/`"),
  line: count.describe('0: its runner does not tell'),
  project: text,
  parallelIndex: count.describe('Slot of the worker that ran it'),
  retry: count.describe('0 for the first try'),
  status: z.enum(testStatuses),
  ok: z.boolean().describe('Whether that is what was expected of it (`test.fail()`)'),
  startedAt: moment,
  endedAt: moment,
  observedBytes: bytes.nullable().describe("Bytes the test's pages moved; null without metering"),
  savedMs: milliseconds.default(0).describe('Waiting for round trips that was saved (`ahead`), in ms, as measured'),
  infrastructureFailure: text.nullable().describe('Null, or why the browser was lost'),
});

export const sessionRecord = z.object({
  sessionId: text,
  leaseId: text.nullable(),
  poolId: text.nullable(),
  servedBy: text.nullable(),
  source: z.enum(['pool', 'session']),
  type: text.nullable().describe('Kind of browser; null where it is not known'),
  project: text.describe('Of its first worker'),
  parallelIndex: count.describe('Slot of its first worker'),
  shard,
  requestedAt: moment.nullable().describe('When the service was asked for it'),
  startedAt: moment.describe('When the run had it'),
  lentAt: moment.nullable().describe('When its first worker got it'),
  endingAt: moment.nullable().describe('When the service was asked to end it'),
  endedAt: moment.nullable().describe('When the service had confirmed its end, or all tries were over'),
  startMs: milliseconds.nullable().describe('ms from asking the service for it to having it'),
  waitMs: milliseconds.nullable().describe('ms its first worker waited for it; 0 where it was fetched ahead in time'),
  endReason: z.enum(endReasons).nullable(),
  endConfirmed: z.boolean().nullable().describe('Whether the service confirmed the stop or release'),
  testsServed: count,
  workersServed: count,
  observedBytes: bytes.describe("Bytes its tests' pages moved, as the browser reported them"),
  bridgedBytes: bytes
    .default(0)
    .describe('Bytes its pages moved through the test machine (`exposeNetwork`); in neither of the other two'),
  carriedOrigins: z
    .array(text)
    .default([])
    .describe(
      'What its tests went to themselves on the test machine, and that was carried for pages from there: origins (`http://localhost:4173`), folders of `file:` pages',
    ),
  roundTripMs: milliseconds
    .nullable()
    .default(null)
    .describe('Shortest time in which the browser answered, in ms: how far away it is; null: nobody has measured'),
  savedMs: milliseconds.default(0).describe('What its tests saved by `ahead`, in ms'),
  bandwidthBytes: bytes.nullable().describe("The service's own figure, asked for after the stop; null: none"),
  infrastructureFailures: z.array(text),
  tests: z.array(testRecord),
});

/** The zod schema of `run.json`. */
export const runRecord = z
  .object({
    schema: z.literal(1).describe('Version of this file; another one may have other fields'),
    runId: text.nullable(),
    runner: z.enum(runners).nullable().default('playwright').describe('What ran the tests; null: a script of its own'),
    service,
    chromiums: z
      .array(text)
      .default([])
      .describe(
        'Which Chromium the embedded emulator ran for what, and why, one line each; empty for a hosted service',
      ),
    shard,
    startedAt: moment,
    endedAt: moment.nullable().describe('Null while the run goes on, and when it died before its end'),
    sessions: z.array(sessionRecord),
    leaseFailures: z.array(text).describe('Failures to get a browser, one line each'),
    balance: z
      .object({ startCents: cents, endCents: cents })
      .nullable()
      .describe(
        "The workspace's balance before and after the run, every use of the workspace included; null where it is not known",
      ),
    merged: z
      .array(z.object({ runId: text.nullable(), shard, startedAt: moment, endedAt: moment.nullable() }))
      .max(MOST_MERGED)
      .describe('What it was merged from; empty for the record of one run'),
  })
  .describe('What a run of poolwright did with hosted browsers');

export type Runner = (typeof runners)[number];
export type EndReason = (typeof endReasons)[number];
/** One try of a test on one browser. */
export type TestRecord = z.infer<typeof testRecord>;
/** One browser of a run, with the tests that it served. */
export type SessionRecord = z.infer<typeof sessionRecord>;
/** `run.json`: what a run did with hosted browsers. */
export type RunRecord = z.infer<typeof runRecord>;
