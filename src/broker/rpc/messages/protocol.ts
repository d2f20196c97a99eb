import * as v from 'valibot';
import { browserIdentity } from '../../../common/browser-identity-schema.ts';
import { leasePlanSchema } from '../../../options/schema/plan.ts';
import { sessionTypes } from '../../../providers/port.ts';
import type { RunRecord, TestUsage } from '../../../record/run-record.ts';
import { type Calls, type CallTable, nothing, roles } from '../call-table.ts';
import type { SerializedError } from './serialized-error.ts';

/**
 * The broker's protocol: requests and responses, each one line of JSON. A worker's connection is its claim on its
 * browser: if it breaks without a `giveBack`, the broker ends the browser.
 */

const noParams = v.object({});
const finite = v.pipe(v.number(), v.finite());
export const positive = v.pipe(finite, v.gtValue(0));
const integer = v.pipe(v.number(), v.safeInteger());
const count = v.pipe(integer, v.minValue(0));

const isObject = (value: unknown) => typeof value === 'object' && value !== null;

/** A project on hosted browsers and its requirements. */
export const hostedProject = v.object({
  /** Unique within the run; project names may repeat. */
  id: v.string(),
  /** For notes and records. */
  name: v.string(),
  plan: leasePlanSchema,
});

/** First message of every connection. */
const helloParams = v.object({
  token: v.string(),
  /** The sender's `PROTOCOL_VERSION`. */
  version: finite,
  role: v.picklist(roles),
  /**
   * A project that is not part of the run, for example because its tests override options. It is known on this
   * connection only, where it overrides a project of the run with the same ID.
   */
  ownProject: v.optional(hostedProject),
});

const pingParams = v.object({
  /** How long this process may be silent before it counts as hung, in ms; null: without limit. */
  silentMs: v.nullable(positive),
});

const leaseParams = v.object({
  /** ID of a project that the broker knows, with its plan. */
  project: v.string(),
  parallelIndex: integer,
  /** Minimum remaining lifetime of the browser, in ms: a test's timeout plus a margin. */
  needMs: v.pipe(finite, v.minValue(0)),
  /**
   * A prefetch for a test that has not started. Workers that need a browser now come first, its failure does not count
   * as a failure of the run, and `cancelPrefetch` cancels it.
   */
  prefetch: v.optional(v.boolean()),
  /** For a prefetch: the current test attempt, see `keyOf` in the record, if the worker knows it. */
  during: v.optional(v.pipe(v.string(), v.maxLength(1_000))),
});

/** The projects of the workers that are being started, one ID per worker; projects on local browsers are ignored. */
const prefetchParams = v.object({ projects: v.pipe(v.array(v.string()), v.maxLength(1_000)) });

/** The remaining tests of each project on hosted browsers. */
const remainingParams = v.object({
  projects: v.array(
    v.object({
      /** ID of the project. */
      project: v.string(),
      /**
       * How many browsers the remaining tests can use at the same time: one for each file that one worker runs in
       * sequence, and one for each other test.
       */
      atOnce: count,
      /** The slots of the workers that run a test, each `parallelIndex`. */
      running: v.array(count),
      /** The running attempts after which the same worker runs another test, see `keyOf` in the record. */
      followed: v.array(v.string()),
    }),
  ),
});

const giveBackParams = v.object({
  sessionId: v.string(),
  /**
   * `healthy`: the browser responded when the worker gave it back. `rolled-over`: it also responded, and is about to
   * end. `lost`: its connection closed, or it did not respond. `unreachable`: the worker could not connect to it.
   */
  condition: v.picklist(['healthy', 'rolled-over', 'lost', 'unreachable']),
  /** Whether another worker will probably replace this one, as after a failed test. */
  toBeReplaced: v.boolean(),
  /** Whether it was prefetched and no test has used it: it is as good as new for every other worker. */
  unused: v.optional(v.boolean()),
});

const idleParams = v.object({
  /** How long the worker has run no test and had no context open, in ms. */
  idleMs: v.pipe(finite, v.minValue(0)),
});

/** A browser as a worker receives it. `cdpUrl` and `headers` are secrets: pass them to the transport only. */
const leasedBrowser = v.object({
  ...browserIdentity,
  type: v.picklist(sessionTypes),
  /** Whether it has a profile or extensions, which are visible only in its default context. */
  hasOwnState: v.boolean(),
  /** Whether others may use it at the same time: only what the tests opened is closed in it. */
  runsAlready: v.optional(v.boolean(), false),
  cdpUrl: v.string(),
  /** Sent with each connection to `cdpUrl`. Secrets. */
  headers: v.optional(v.record(v.string(), v.string())),
  /** ISO 8601: when this run acquired the browser. */
  startedAt: v.string(),
  /** Maximum lifetime at the service, in ms. */
  lifetimeMs: v.number(),
  /** ISO 8601: when the service ends it. */
  expiresAt: v.string(),
  /** Whether another worker of this run used it before. */
  reused: v.boolean(),
});

/** The service's data about a session; null where there is none. */
const sessionReport = v.object({
  status: v.nullable(v.string()),
  /** ISO 8601: when it ended. */
  stoppedAt: v.nullable(v.string()),
  bandwidthBytes: v.nullable(v.number()),
});

/** The current state of a run's browsers, for a display. */
const runState = v.object({
  /** Browsers held by workers. */
  inUse: v.pipe(v.number(), v.integer()),
  /** Workers that wait for a browser. */
  waiting: v.pipe(v.number(), v.integer()),
  /** Browsers that the service is asked to end. */
  ending: v.pipe(v.number(), v.integer()),
  /** Browsers acquired so far: leased from a pool, and created. */
  fromPool: v.pipe(v.number(), v.integer()),
  created: v.pipe(v.number(), v.integer()),
  /** The longest waiting worker: how long it waits, in ms, and for what. */
  longest: v.nullable(v.object({ waitedMs: v.number(), waitsFor: v.string() })),
  /** New lines for the terminal since the last request. */
  said: v.array(v.string()),
});

export const CONNECTION_CALLS = {
  /** First message of every connection. */
  hello: {
    roles: null,
    params: helloParams,
    /** A worker's number: the lowest that no other open connection has. */
    result: v.object({ slot: v.nullable(v.number()) }),
  },
  /** A regular sign of life: each side regards the other one as dead if it stays silent. */
  ping: { roles: null, params: pingParams, result: nothing },
} as const satisfies CallTable;

/** The requests of workers and runners, without those of features. */
export const RUN_CALLS = {
  lease: { roles: ['worker'], params: leaseParams, result: leasedBrowser },
  /** Cancels this connection's pending requests that are marked `prefetch`: each fails with ABORTED. */
  cancelPrefetch: { roles: ['worker'], params: noParams, result: nothing },
  giveBack: { roles: ['worker'], params: giveBackParams, result: nothing },
  /** Whether a worker without a test should give its browser back: another one waits, and the service has none. */
  isWanted: { roles: ['worker'], params: idleParams, result: v.boolean() },
  /** The usage of a test. The broker checks it with the record's schema, which is published and therefore in zod. */
  testUsage: { roles: ['worker'], params: v.custom<TestUsage>(isObject), result: nothing },
  sessionReport: { roles: ['worker'], params: v.object({ sessionId: v.string() }), result: sessionReport },
  /** Masks secrets of the run, which only the broker knows, and those that the worker knows: its CDP address. */
  redact: {
    roles: ['worker'],
    params: v.object({ texts: v.array(v.string()), secrets: v.array(v.string()) }),
    /** In the order of the request. */
    result: v.array(v.string()),
  },
  /** Prints a line in the terminal, once per run. */
  say: { roles: ['worker'], params: v.object({ text: v.pipe(v.string(), v.maxLength(2_000)) }), result: nothing },
  /** Prefetches browsers for workers that are being started. */
  prefetch: { roles: ['control'], params: prefetchParams, result: nothing },
  /** Sets all remaining tests. The broker forgets them when this connection closes. */
  remaining: { roles: ['control'], params: remainingParams, result: nothing },
  /** The state of the browsers. After the first call, this connection's owner shows the terminal's lines. */
  state: { roles: ['control'], params: noParams, result: runState },
  /** Ends every browser. Returns the run's record as this version's broker has written it: not checked again. */
  finish: { roles: ['control'], params: noParams, result: v.custom<RunRecord>(isObject) },
} as const satisfies CallTable;

export type ConnectionCalls = Calls<typeof CONNECTION_CALLS>;
export type RunCalls = Calls<typeof RUN_CALLS>;

/** The response to the request with this ID. Responses may arrive in any order. */
export type Reply = { id: number } & ({ result: unknown } | { error: SerializedError });

export type HostedProject = v.InferOutput<typeof hostedProject>;
export type LeaseParams = v.InferOutput<typeof leaseParams>;
export type PrefetchParams = v.InferOutput<typeof prefetchParams>;
export type RemainingParams = v.InferOutput<typeof remainingParams>;
export type GiveBackParams = v.InferOutput<typeof giveBackParams>;
export type IdleParams = v.InferOutput<typeof idleParams>;
export type LeasedBrowser = v.InferOutput<typeof leasedBrowser>;
export type SessionReport = v.InferOutput<typeof sessionReport>;
export type RunState = v.InferOutput<typeof runState>;
