import * as z from 'zod';
import { createPoolRequest, createSessionRequest } from '../../service/schemas/index.ts';

/** What is asked over the broker's socket, as the broker checks it. */

const leasePlanMessage = z.object({
  pool: z.union([z.string(), z.object({ create: createPoolRequest.partial({ name: true, size: true }) }), z.null()]),
  fallback: z.enum(['session', 'fail']),
  session: createSessionRequest,
  reuse: z.enum(['run', 'worker', 'test']),
  acquireTimeout: z.number().positive(),
});

/** A project on hosted browsers, and what it needs. */
export const hostedProject = z.object({
  /** Tells it from the run's other ones: their names need not differ. */
  id: z.string(),
  /** For notes and records. */
  name: z.string(),
  plan: leasePlanMessage,
});

/** A request as a line. */
export const request = z.object({ id: z.int(), method: z.string(), params: z.unknown() });

/** First message of every connection. */
export const helloParams = z.object({
  token: z.string(),
  /** `PROTOCOL_VERSION` of who connects. */
  version: z.number(),
  role: z.enum(['worker', 'control']),
  /**
   * A project that the run was not told of, such as one whose tests bring options of their own: for this connection
   * alone, where it overrides one of the run's with the same ID.
   */
  ownProject: hostedProject.optional(),
});

export const pingParams = z.object({
  /** How long this process may be silent, in ms, before it counts as hung; null: for ever. */
  silentMs: z.number().positive().nullable(),
});

export const leaseParams = z.object({
  /** ID of a project that the broker knows: the plan is there. */
  project: z.string(),
  parallelIndex: z.number().int(),
  /** How long the browser must last at least, in ms: a test's timeout and a margin. */
  needMs: z.number().nonnegative(),
  /**
   * A prefetch: for a test that has not begun. It yields to every worker that waits for a browser now, its failure is
   * no failure of the run, and `cancelAhead` ends it.
   */
  ahead: z.boolean().optional(),
  /** The try of a test that runs meanwhile, see `testTry`: of a prefetch, where the worker knows it. */
  during: z.string().max(1_000).optional(),
});

/** The projects of the workers that are being started, one ID a worker; those on local browsers are passed over. */
export const prefetchParams = z.object({ projects: z.array(z.string()).max(1_000) });

const count = z.int().nonnegative();

/** Of each project on hosted browsers, the tests that have not begun and those that run. */
export const remainingParams = z.object({
  projects: z.array(
    z.object({
      /** ID of the project. */
      project: z.string(),
      /** Tests that have not begun, or will be tried again, and may use a browser. */
      waiting: count,
      /** How many of them are certain to begin and to open a context, whatever becomes of the others. */
      certain: count,
      /** How many groups the waiting ones make that no worker has begun. A group is what one worker runs in one go. */
      groups: count,
      /** How many browsers this run has asked for, or is certain to ask for, if each of its tries takes a fresh one. */
      asks: count,
      /**
       * The workers that run a group. `slot`: their `parallelIndex`; `test`: the try that runs, or ran last; `goesOn`: a
       * test of the group is among the waiting ones; `asks`: one is among the certain ones.
       */
      running: z.array(z.object({ slot: z.int(), test: z.string(), goesOn: z.boolean(), asks: z.boolean() })),
    }),
  ),
});

export const giveBackParams = z.object({
  sessionId: z.string(),
  /**
   * `healthy`: it answered when the worker let go of it. `rolled-over`: it did too, and is about to end. `lost`: its
   * link closed, or it did not answer. `unreachable`: it could not be connected to.
   */
  condition: z.enum(['healthy', 'rolled-over', 'lost', 'unreachable']),
  /** Whether another worker will probably take this one's place, as after a failed test. */
  toBeReplaced: z.boolean(),
  /** Whether it was leased ahead and no test has used it: it is as good as new for every other worker. */
  unused: z.boolean().optional(),
});

/** A line for the terminal that several workers may come to say. */
export const sayParams = z.object({ text: z.string().max(2_000) });

export const sessionParams = z.object({ sessionId: z.string() });

export type HostedProject = z.infer<typeof hostedProject>;
export type LeaseParams = z.infer<typeof leaseParams>;
export type PrefetchParams = z.infer<typeof prefetchParams>;
export type RemainingParams = z.infer<typeof remainingParams>;
export type GiveBackParams = z.infer<typeof giveBackParams>;
