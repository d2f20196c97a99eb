import * as v from 'valibot';
import type { BrowserIdentity } from '../../common/browser-identity.ts';
import { sessionTypes } from '../../service/session-types.ts';

/** What the broker answers, as a worker checks it. Not by zod: that takes longer to load than all the rest of a worker's part. */

const browserIdentity = {
  sessionId: v.string(),
  leaseId: v.nullable(v.string()),
  poolId: v.nullable(v.string()),
  servedBy: v.nullable(v.string()),
} satisfies Record<keyof BrowserIdentity, v.GenericSchema>;

/** A browser as a worker gets it. `cdpUrl` is a secret: it goes to the transport and nowhere else. */
export const leasedBrowser = v.object({
  ...browserIdentity,
  type: v.picklist(sessionTypes),
  /** Whether it has a profile or extensions, which only its own context shows. */
  hasOwnState: v.boolean(),
  cdpUrl: v.string(),
  /** ISO 8601: when this run got the browser. */
  startedAt: v.string(),
  /** How long the service lets it live, in ms. */
  lifetimeMs: v.number(),
  /** ISO 8601: when the service will end it. */
  expiresAt: v.string(),
  /** Whether another worker of this run used it before. */
  reused: v.boolean(),
});

/** What who says hello is told. */
export const welcome = v.object({ slot: v.nullable(v.number()) });

/** What the service says of a session; null where it says nothing. */
export const sessionReport = v.object({
  status: v.nullable(v.string()),
  /** ISO 8601: when it ended. */
  stoppedAt: v.nullable(v.string()),
  bandwidthBytes: v.nullable(v.number()),
});

/** What becomes of a run's browsers, for who watches it. */
export const runState = v.object({
  /** Browsers that a worker has. */
  inUse: v.pipe(v.number(), v.integer()),
  /** Workers without one. */
  waiting: v.pipe(v.number(), v.integer()),
  /** Browsers that the service is asked to end. */
  ending: v.pipe(v.number(), v.integer()),
  /** Browsers had so far, leased from a pool and created. */
  fromPool: v.pipe(v.number(), v.integer()),
  created: v.pipe(v.number(), v.integer()),
  /** The worker that waits longest: for how long, in ms, and what for. */
  longest: v.nullable(v.object({ waitedMs: v.number(), waitsFor: v.string() })),
  /** What was to be said on the terminal since the last time, one line each. */
  said: v.array(v.string()),
});

export type LeasedBrowser = v.InferOutput<typeof leasedBrowser>;
export type SessionReport = v.InferOutput<typeof sessionReport>;
export type RunState = v.InferOutput<typeof runState>;
