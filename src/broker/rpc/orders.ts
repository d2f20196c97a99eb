import * as v from 'valibot';
import type { Method } from './messages/protocol.ts';

/** What watchers want of a slot. Apart from the other messages, because workers load it even if nobody watches. */
export const watchOrders = v.object({
  /** Increases with every change. */
  number: v.pipe(v.number(), v.safeInteger()),
  /** Whether anybody watches the run: the running tests are reported then. */
  isWatched: v.boolean(),
  /** Null: no pictures of this slot. */
  pictures: v.nullable(v.picklist(['large', 'small'])),
});

export type WatchOrders = v.InferOutput<typeof watchOrders>;

/** What a worker or a runner has of its broker to be watched. Each call rejects when the connection is lost. */
export interface WatchedBroker {
  /**
   * Resolves with the orders of the watchers, once they differ from the known ones.
   * @param slot null: of the runner
   * @param after number of the known orders; 0: none
   */
  orders(slot: number | null, after: number): Promise<WatchOrders>;
  /** Sends another request, see `watchedConnection`. */
  ask(method: Method, params: object): Promise<unknown>;
}
