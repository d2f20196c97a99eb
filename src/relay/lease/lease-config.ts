import { join } from 'node:path';
import * as v from 'valibot';

/** What the process of a lease gets from the relay, as one message. */
export const leaseConfig = v.strictObject({
  /** Private to this lease: everything that Playwright writes is in it. Removed with the lease. */
  directory: v.string(),
  /** Directory of the `playwright-core` that the worker uses. */
  playwright: v.string(),
  /** Hash of the only address that the lease may connect to, from the worker's token. */
  browser: v.string(),
  allowed: v.strictObject({ hosts: v.array(v.string()), allowPrivate: v.boolean() }),
});

export type LeaseConfig = v.InferOutput<typeof leaseConfig>;

/** Sent to the relay once the process listens. */
export const LISTENS = 'listens';

/** Where the process of a lease listens. */
export function leaseSocket(directory: string): string {
  return join(directory, 'relay.sock');
}
