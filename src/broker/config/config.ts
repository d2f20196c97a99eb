import * as v from 'valibot';
import { runners } from '../../record/enums.ts';
import { hostedProject, positive } from '../rpc/messages/protocol.ts';

/** A broker's standard input and output: one line each. */

/** Its configuration: one JSON line on its standard input, so that argv contains no secret. */
export const brokerConfig = v.object({
  /** Only gives back what the run's dead brokers left, then exits. */
  onlySweep: v.optional(v.boolean()),
  runId: v.string(),
  /** The test runner; null: a script. */
  runner: v.nullable(v.picklist(runners)),
  /** Distinguishes this broker from every other one, including those of the same run. */
  mark: v.string(),
  /** Marks of the run's brokers that have died. */
  deadMarks: v.array(v.string()),
  /** Socket path (named pipe on Windows) to listen on. */
  address: v.string(),
  token: v.string(),
  service: v.variant('kind', [
    v.object({ kind: v.literal('hosted'), baseURL: v.string(), apiKey: v.string() }),
    v.object({ kind: v.literal('emulator') }),
    v.object({
      kind: v.literal('browsers'),
      browsers: v.array(v.object({ url: v.string(), max: positive })),
    }),
    /** `file`: absolute path. */
    v.object({ kind: v.literal('provider'), file: v.string() }),
  ]),
  /** Deadline for the start, in ms: by then the broker has reported that it can lease browsers, or why not. */
  startTimeoutMs: positive,
  /** Directory of log and record; null: neither is written. */
  recordDirectory: v.nullable(v.string()),
  workers: v.pipe(v.number(), v.safeInteger(), v.minValue(1)),
  /**
   * poolwright chose `workers`, by a limit that may be out of date: while a worker of the run has a browser, the others
   * wait for it, longer than `acquireTimeout`.
   */
  workersChosen: v.optional(v.boolean()),
  shard: v.nullable(v.object({ current: v.number(), total: v.number() })),
  /** The project's name, for those who watch the run. */
  name: v.string(),
  /** Names this project's suite in notes. */
  suite: v.string(),
  /** Directory of the ledgers; null: no ledger is written. */
  ledgerDirectory: v.nullable(v.string()),
  /** Where the limits that this run learns are kept for later ones; none: nowhere. */
  limitsFile: v.nullish(v.string()),
  /** Runs that the CI reports as over: earlier attempts of this run. */
  overRuns: v.array(v.string()),
  /** The requirements of each project on hosted browsers. Named pools are looked up before any browser is requested. */
  projects: v.array(hostedProject),
  debug: v.boolean(),
  /** How long to keep an idle browser, in ms: longer while a user watches files. */
  idleMs: v.optional(positive),
});

export type BrokerConfig = v.InferOutput<typeof brokerConfig>;

/** The broker's single response on its standard output. */
export const brokerReady = v.variant('ok', [
  v.object({ ok: v.literal(true) }),
  /** `error`: the reason, as returned by `serializeError`. */
  v.object({ ok: v.literal(false), error: v.unknown() }),
]);

export type BrokerReady = v.InferOutput<typeof brokerReady>;
