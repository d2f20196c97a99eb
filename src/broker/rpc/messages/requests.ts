import * as v from 'valibot';
import type { RunPoolOptions } from '../../../options/schema/schema.ts';
import type { CreateSessionRequest } from '../../../service/schemas/index.ts';

/** Requests over the broker's socket, as the broker validates them. */

const finite = v.pipe(v.number(), v.finite());
export const positive = v.pipe(finite, v.gtValue(0));
const integer = v.pipe(v.number(), v.safeInteger());
const count = v.pipe(integer, v.minValue(0));

const isObject = (value: unknown) => typeof value === 'object' && value !== null;

/** What is sent to the service is checked where users write it, and by the service's client before it sends it. */
const leasePlanMessage = v.object({
  pool: v.nullable(v.union([v.string(), v.object({ create: v.custom<RunPoolOptions['create']>(isObject) })])),
  fallback: v.picklist(['session', 'fail']),
  session: v.custom<CreateSessionRequest>(isObject),
  reuse: v.picklist(['run', 'worker', 'test']),
  acquireTimeout: positive,
});

/** A project on hosted browsers and its requirements. */
export const hostedProject = v.object({
  /** Unique within the run; project names may repeat. */
  id: v.string(),
  /** For notes and records. */
  name: v.string(),
  plan: leasePlanMessage,
});

/** A request as one line. */
export const request = v.object({ id: integer, method: v.string(), params: v.optional(v.unknown()) });

/** First message of every connection. */
export const helloParams = v.object({
  token: v.string(),
  /** The sender's `PROTOCOL_VERSION`. */
  version: finite,
  role: v.picklist(['worker', 'control', 'watcher']),
  /**
   * A project that is not part of the run, for example because its tests override options. It is known on this
   * connection only, where it overrides a project of the run with the same ID.
   */
  ownProject: v.optional(hostedProject),
});

export const pingParams = v.object({
  /** How long this process may be silent before it counts as hung, in ms; null: without limit. */
  silentMs: v.nullable(positive),
});

export const leaseParams = v.object({
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
export const prefetchParams = v.object({ projects: v.pipe(v.array(v.string()), v.maxLength(1_000)) });

/** Tests that have not started and tests that are running, for each project on hosted browsers. */
export const remainingParams = v.object({
  projects: v.array(
    v.object({
      /** ID of the project. */
      project: v.string(),
      /** Tests that have not started, or will be retried, and may use a browser. */
      waiting: count,
      /** How many of them will certainly start and open a context, whatever the results of the others. */
      certain: count,
      /**
       * Number of groups of waiting tests that no worker has started. A group is a set of tests that one worker runs
       * together.
       */
      groups: count,
      /** How many browsers this run has requested or will certainly request, if each attempt takes a fresh one. */
      asks: count,
      /**
       * The workers that run a group. `slot`: their `parallelIndex`; `test`: the current or last attempt; `goesOn`: a
       * test of the group is among the waiting ones; `asks`: a test of the group is among the certain ones.
       */
      running: v.array(v.object({ slot: integer, test: v.string(), goesOn: v.boolean(), asks: v.boolean() })),
    }),
  ),
});

export const giveBackParams = v.object({
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

export const idleParams = v.object({
  /** How long the worker has run no test and had no context open, in ms. */
  idleMs: v.pipe(finite, v.minValue(0)),
});

/** A line for the terminal that several workers may send. */
export const sayParams = v.object({ text: v.pipe(v.string(), v.maxLength(2_000)) });

export const noParams = v.object({});

/** Texts to mask, and secrets that the worker knows: the CDP address of its browser. */
export const redactParams = v.object({ texts: v.array(v.string()), secrets: v.array(v.string()) });

export const sessionParams = v.object({ sessionId: v.string() });

export type HostedProject = v.InferOutput<typeof hostedProject>;
export type LeaseParams = v.InferOutput<typeof leaseParams>;
export type PrefetchParams = v.InferOutput<typeof prefetchParams>;
export type RemainingParams = v.InferOutput<typeof remainingParams>;
export type RedactParams = v.InferOutput<typeof redactParams>;
export type GiveBackParams = v.InferOutput<typeof giveBackParams>;
export type IdleParams = v.InferOutput<typeof idleParams>;
