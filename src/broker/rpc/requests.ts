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
});

/** The projects of the workers that are being started, one ID a worker; those on local browsers are passed over. */
export const prefetchParams = z.object({ projects: z.array(z.string()).max(1_000) });

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
export type GiveBackParams = z.infer<typeof giveBackParams>;
