import { z } from 'zod';
import { browserIdentity } from '../../common/browser-identity.ts';
import { createPoolRequest, createSessionRequest, sessionTypes } from '../../service/schemas/index.ts';

/**
 * What goes over the broker's socket. A worker's connection is its claim on its browser: when it breaks without a
 * `giveBack`, the broker ends the browser.
 */

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

/** First message of every connection. */
export const helloParams = z.object({
  token: z.string(),
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

/** A browser as a worker gets it. `cdpUrl` is a secret: it goes to the transport and nowhere else. */
export const leasedBrowser = z.object({
  ...browserIdentity.shape,
  type: z.enum(sessionTypes),
  /** Whether it has a profile or extensions, which only its own context shows. */
  hasOwnState: z.boolean(),
  cdpUrl: z.string(),
  /** ISO 8601: when this run got the browser. */
  startedAt: z.string(),
  /** How long the service lets it live, in ms. */
  lifetimeMs: z.number(),
  /** ISO 8601: when the service will end it. */
  expiresAt: z.string(),
  /** Whether another worker of this run used it before. */
  reused: z.boolean(),
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

/** What the service says of a session; null where it says nothing. */
export const sessionReport = z.object({
  status: z.string().nullable(),
  /** ISO 8601: when it ended. */
  stoppedAt: z.string().nullable(),
  bandwidthBytes: z.number().nullable(),
});

/** What becomes of a run's browsers, for who watches it. */
export const runState = z.object({
  /** Browsers that a worker has. */
  inUse: z.number().int(),
  /** Workers without one. */
  waiting: z.number().int(),
  /** Browsers that the service is asked to end. */
  ending: z.number().int(),
  /** Browsers had so far, leased from a pool and created. */
  fromPool: z.number().int(),
  created: z.number().int(),
  /** The worker that waits longest: for how long, in ms, and what for. */
  longest: z.object({ waitedMs: z.number(), waitsFor: z.string() }).nullable(),
  /** What was to be said on the terminal since the last time, one line each. */
  said: z.array(z.string()),
});

export type HostedProject = z.infer<typeof hostedProject>;
export type LeaseParams = z.infer<typeof leaseParams>;
export type PrefetchParams = z.infer<typeof prefetchParams>;
export type LeasedBrowser = z.infer<typeof leasedBrowser>;
export type GiveBackParams = z.infer<typeof giveBackParams>;
export type SessionReport = z.infer<typeof sessionReport>;
export type RunState = z.infer<typeof runState>;

/** The requests a connection may send. */
export const METHODS = {
  hello: 'hello',
  lease: 'lease',
  /** Ends this connection's requests for a browser that are marked `ahead` and have none yet: each fails as ABORTED. */
  cancelAhead: 'cancelAhead',
  giveBack: 'giveBack',
  testUsage: 'testUsage',
  say: 'say',
  sessionReport: 'sessionReport',
  /** Control only: fetch browsers for workers that are being started. */
  prefetch: 'prefetch',
  /** Control only: what becomes of the browsers. Once asked, the terminal's lines come with it while the line is open. */
  watch: 'watch',
  /** Control only: end every browser, and answer with the run's record, which is the asker's to write. */
  finish: 'finish',
  /** Control only: the record is written. A broker that is not told so before it exits writes it itself. */
  recorded: 'recorded',
} as const;

export type Method = keyof typeof METHODS;
