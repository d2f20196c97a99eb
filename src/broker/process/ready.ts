import * as v from 'valibot';

/** The broker's one answer on its standard output. */
export const brokerReady = v.variant('ok', [
  v.object({ ok: v.literal(true) }),
  /** `error`: why not, as `toWire` makes it. */
  v.object({ ok: v.literal(false), error: v.unknown() }),
]);

export type BrokerReady = v.InferOutput<typeof brokerReady>;
