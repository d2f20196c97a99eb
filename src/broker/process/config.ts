import * as z from 'zod';
import { runners } from '../../record/run-record.ts';
import { hostedProject } from '../rpc/requests.ts';

/** What a broker is told when it starts: one JSON line on its standard input, so that no secret is in argv. */
export const brokerConfig = z.object({
  /** Only gives back what the dead brokers of this run left, and ends. */
  onlySweep: z.boolean().optional(),
  runId: z.string(),
  /** What runs the tests; null: a script. */
  runner: z.enum(runners).nullable(),
  /** Tells this broker from every other one, also from those of its run. */
  mark: z.string(),
  /** Marks of the brokers of this run that have died. */
  deadMarks: z.array(z.string()),
  /** Socket path (named pipe on Windows) to listen on. */
  address: z.string(),
  token: z.string(),
  service: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('hosted'), baseURL: z.string(), apiKey: z.string() }),
    z.object({ kind: z.literal('emulator') }),
  ]),
  /** Bound on the start, in ms: by then the broker has said that it can lend, or why not. */
  startTimeoutMs: z.number().positive(),
  /** Folder of log and record; null: none are written. */
  recordFolder: z.string().nullable(),
  workers: z.number().int().positive(),
  shard: z.object({ current: z.number(), total: z.number() }).nullable(),
  /** Names this project's suite in notes. */
  suite: z.string(),
  /** Where ledgers lie; null: none is written. */
  ledgerFolder: z.string().nullable(),
  /** Runs that are over by the CI's own word: earlier attempts at this one. */
  overRuns: z.array(z.string()),
  /** What each project on hosted browsers needs. Named pools are looked up before any browser is asked for. */
  projects: z.array(hostedProject),
  debug: z.boolean(),
  /** Bound on an idle browser, in ms, while it is not known which tests are to come: longer while a user watches files. */
  idleMs: z.number().positive().optional(),
});

export type BrokerConfig = z.infer<typeof brokerConfig>;
