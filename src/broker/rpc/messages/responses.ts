import * as v from 'valibot';
import { browserIdentity } from '../../../common/browser-identity-schema.ts';
import { sessionTypes } from '../../../service/session-types.ts';

/** The broker's responses, as a worker validates them. */

/** A browser as a worker receives it. `cdpUrl` is a secret: pass it to the transport only. */
export const leasedBrowser = v.object({
  ...browserIdentity,
  type: v.picklist(sessionTypes),
  /** Whether it has a profile or extensions, which are visible only in its default context. */
  hasOwnState: v.boolean(),
  cdpUrl: v.string(),
  /** ISO 8601: when this run acquired the browser. */
  startedAt: v.string(),
  /** Maximum lifetime at the service, in ms. */
  lifetimeMs: v.number(),
  /** ISO 8601: when the service ends it. */
  expiresAt: v.string(),
  /** Whether another worker of this run used it before. */
  reused: v.boolean(),
  /** Lets a relay connect to it, if the run has the secret of a relay. A secret. */
  relayToken: v.optional(v.string()),
});

/** Reply to `hello`. */
export const welcome = v.object({ slot: v.nullable(v.number()) });

/** The service's data about a session; null where there is none. */
export const sessionReport = v.object({
  status: v.nullable(v.string()),
  /** ISO 8601: when it ended. */
  stoppedAt: v.nullable(v.string()),
  bandwidthBytes: v.nullable(v.number()),
});

/** Masked texts, in the order of the request. */
export const redactedTexts = v.array(v.string());

/** The current state of a run's browsers, for a display. */
export const runState = v.object({
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

export type LeasedBrowser = v.InferOutput<typeof leasedBrowser>;
export type SessionReport = v.InferOutput<typeof sessionReport>;
export type RunState = v.InferOutput<typeof runState>;
