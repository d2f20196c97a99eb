import * as v from 'valibot';
import { type Ask, type Calls, type CallTable, callsOver } from '../rpc/call-table.ts';

/** The demand of watchers for a slot. */
const watchOrders = v.object({
  /** Increases with every change. */
  number: v.pipe(v.number(), v.safeInteger()),
  /** Whether anybody watches the run: the running tests are reported then. */
  isWatched: v.boolean(),
  /** Null: no pictures of this slot. */
  pictures: v.nullable(v.picklist(['large', 'small'])),
});

export type WatchOrders = v.InferOutput<typeof watchOrders>;

/** The request of every worker and runner, apart from those that load when a watcher comes. */
export const ORDER_CALLS = {
  /**
   * The demand for a slot (null: for the runner). Responds when it differs from the orders with the number
   * `after` (0: none).
   */
  watchOrders: {
    roles: ['worker', 'control'],
    params: v.object({
      slot: v.nullable(v.pipe(v.number(), v.safeInteger(), v.minValue(0))),
      after: v.pipe(v.number(), v.safeInteger()),
    }),
    result: watchOrders,
  },
} as const satisfies CallTable;

export type OrderCalls = Calls<typeof ORDER_CALLS>;

/** Returns these calls over the connection of a worker or a runner. */
export function orderCallsOver(ask: Ask): OrderCalls {
  return callsOver(ORDER_CALLS, ask);
}
