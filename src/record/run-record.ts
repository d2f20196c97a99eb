import * as z from 'zod';
import { MAX_HOLDS, MAX_MERGED, MAX_WORKERS } from './bounds.ts';
import { endReasons, holdEnds, runners, services, testStatuses } from './enums.ts';
import { bytes, cents, count, milliseconds, shard, text, timestamp } from './fields.ts';

/**
 * `<outputDir>/poolwright/run.json`: what a run did with hosted browsers. Published as `schemas/run.schema.json`, which
 * `node scripts/schema.mjs` generates from this file. Times are ISO 8601, by the clock of the machine that ran the
 * tests.
 */

const service = z
  .enum(services)
  .nullable()
  .describe("`browsers`, `provider`: the user's own, by the option of that name; null: unknown");

/** A time in which a test waited for a person. */
const holdRecord = z.object({
  reason: text,
  startedAt: timestamp,
  endedAt: timestamp,
  end: z
    .enum(holdEnds)
    .describe(
      '`released` by a person; `time-limit`: after 10 minutes; `lease-end`: shortly before the browser ends; `interrupted`: the test, the browser or the run ended',
    ),
});

/** One try of a test on one browser. A test that changed its browser is listed with each of them. */
export const testRecord = z.object({
  id: text.describe("The runner's ID of the test; Playwright's is `index.html#?testId=<id>` in its HTML report"),
  title: text.describe('`describe › test`'),
  file: text.describe("Relative to the runner's root directory, with `/`"),
  line: count.describe('0: not reported by the runner'),
  project: text,
  parallelIndex: count.describe('Slot of the worker that ran it'),
  retry: count.describe('0 for the first try'),
  status: z.enum(testStatuses),
  ok: z.boolean().describe('Whether the status was expected (`test.fail()`)'),
  startedAt: timestamp,
  endedAt: timestamp,
  observedBytes: bytes.nullable().describe("Bytes the test's pages moved; null without metering"),
  proxiedBytes: bytes
    .nullable()
    .default(null)
    .describe(
      'Bytes they sent and received through the test machine (`exposeNetwork`); not in `observedBytes`; null: unknown',
    ),
  proxiedSentBytes: bytes.nullable().default(null).describe('How many of these they sent; null: unknown'),
  savedMs: milliseconds.default(0).describe('Measured waiting for round trips that `ahead` saved, in ms'),
  infrastructureFailure: text.nullable().describe('Why the browser was lost, or null'),
  evidence: text
    .nullable()
    .default(null)
    .describe("Directory with its pages when it failed, relative to the runner's root directory, or null"),
  holds: z
    .array(holdRecord)
    .max(MAX_HOLDS)
    .default([])
    .describe('When it was on hold (`hostedSession.hold`, `POOLWRIGHT_HOLD`)'),
});

/** A browser of the run. Times are ISO 8601, in UTC. */
export const sessionRecord = z.object({
  sessionId: text,
  leaseId: text.nullable(),
  poolId: text.nullable(),
  servedBy: text.nullable(),
  source: z.enum(['pool', 'session']).describe('`session`: not from a pool'),
  type: text.nullable().describe("Kind of the service's browser; null if unknown, and of the user's own"),
  project: text.describe('Project of its first worker'),
  parallelIndex: count.describe('Slot of its first worker'),
  shard,
  requestedAt: timestamp.nullable().describe('When it was requested from the service'),
  startedAt: timestamp.describe('When the run received it'),
  lentAt: timestamp.nullable().describe('When its first worker got it'),
  endingAt: timestamp.nullable().describe('When the service was asked to end it'),
  endedAt: timestamp.nullable().describe('When the service confirmed its end, or the last attempt failed'),
  startMs: milliseconds.nullable().describe('ms from requesting it to receiving it'),
  waitMs: milliseconds.nullable().describe('ms its first worker waited for it; 0 if it was prefetched in time'),
  endReason: z.enum(endReasons).nullable(),
  endConfirmed: z.boolean().nullable().describe('Whether the service confirmed the stop or release'),
  testsServed: count,
  workersServed: count,
  observedBytes: bytes.describe("Bytes its tests' pages moved, as the browser reported them"),
  bridgedBytes: bytes
    .default(0)
    .describe('Bytes its pages moved through the test machine (`exposeNetwork`); not in the other two figures'),
  pictureBytes: bytes
    .default(0)
    .describe('Bytes of pictures taken of its pages (`film`), in base64; not in the other figures'),
  carriedOrigins: z
    .array(text)
    .default([])
    .describe(
      'Origins of the test machine that were proxied because its tests navigated there (`http://localhost:4173`), also those that their pages requested, and directories of `file:` pages',
    ),
  roundTripMs: milliseconds
    .nullable()
    .default(null)
    .describe('Shortest round-trip time to the browser, in ms; null: not measured'),
  savedMs: milliseconds.default(0).describe('Waiting that `ahead` saved its tests, in ms'),
  bandwidthBytes: bytes.nullable().describe("The service's figure, requested after the stop; null: none"),
  infrastructureFailures: z.array(text),
  tests: z.array(testRecord),
});

const runFailure = z.object({
  code: text.describe('Kind of failure, as in docs/troubleshooting.md'),
  message: text.describe('What happened, and why'),
  next: text.describe('The next step'),
});

/** What the workers of a run had to do, without what they waited for. */
const work = z.object({
  workers: z.number().int().min(1).max(MAX_WORKERS).describe('Workers of the run, or of each shard'),
  projectWorkers: z
    .record(text, z.number().int().min(1).max(MAX_WORKERS))
    .describe('Workers of projects that have a limit'),
  pieces: z
    .array(z.object({ project: text, ms: milliseconds }))
    .describe(
      'Tests that stay together on one worker, such as a file: their project, and what they took with all tries',
    ),
  needs: z
    .array(z.object({ project: text, needed: text, ms: milliseconds }))
    .describe('Setup and teardown projects that each shard repeats for a project, and what they took'),
});

/** The zod schema of `run.json`. */
export const runRecord = z
  .object({
    schema: z.literal(1).describe('Version of this file; other versions may have other fields'),
    runId: text.nullable(),
    runner: z
      .enum(runners)
      .nullable()
      .default('playwright')
      .describe('What ran the tests; null: a script without runner'),
    service,
    chromiums: z
      .array(text)
      .default([])
      .describe(
        'Chromium builds that the embedded emulator used, each with its purpose and reason; empty for a hosted service',
      ),
    shard,
    browsers: count
      .nullable()
      .default(null)
      .describe('How many browsers may run at once, for all shards together; null: unknown'),
    startedAt: timestamp,
    endedAt: timestamp.nullable().describe('Null during the run, and if it crashed'),
    sessions: z.array(sessionRecord),
    leaseFailures: z.array(text).describe('Failures to get a browser, one line each'),
    failures: z
      .array(runFailure)
      .default([])
      .describe('Everything of poolwright, the service or a browser that failed; not the failures of tests'),
    balance: z
      .object({ startCents: cents, endCents: cents })
      .nullable()
      .describe(
        "The workspace's balance before and after the run, including other use of the workspace; null if unknown",
      ),
    partition: z
      .object({
        hash: text.nullable().describe("Which test is in which shard; null: Playwright's own shards"),
        timings: text.nullable().describe('Hash of the timings that balanced the shards; null: none'),
        playwright: text.describe('Version of Playwright'),
        complete: z.boolean().describe('Whether `tests` has every test of the suite, not only those of this shard'),
        tests: z
          .record(text, z.record(text, z.record(text, milliseconds.nullable())))
          .describe(
            'By project, file (relative to the config, with `/`) and `describe › test`: how long the test took in this shard, in ms with all tries; null: it did not run here. Without setup and teardown projects, which every shard repeats',
          ),
      })
      .nullable()
      .default(null)
      .describe('Which tests a shard of Playwright Test has run; null: no shard, or unknown'),
    work: work
      .nullable()
      .default(null)
      .describe('How long the tests took that each worker runs one after the other; null: unknown'),
    merged: z
      .array(z.object({ runId: text.nullable(), shard, startedAt: timestamp, endedAt: timestamp.nullable() }))
      .max(MAX_MERGED)
      .describe('The runs it was merged from; empty for the record of one run'),
  })
  .describe('What a run of poolwright did with hosted browsers');

/** One try of a test on one browser. */
export type TestRecord = z.infer<typeof testRecord>;
/** A time in which a test waited for a person. */
export type HoldRecord = z.infer<typeof holdRecord>;
/** A failure of poolwright, the service or a browser. */
export type RunFailure = z.infer<typeof runFailure>;
/** One browser of a run, with the tests that used it. */
export type SessionRecord = z.infer<typeof sessionRecord>;
/** What the workers of a run had to do. */
export type RunWork = z.infer<typeof work>;
/** `run.json`: what a run did with hosted browsers. */
export type RunRecord = z.infer<typeof runRecord>;

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
