import * as v from 'valibot';

/** The broker's single response on its standard output. */
export const brokerReady = v.variant('ok', [
  v.object({ ok: v.literal(true) }),
  /** `error`: the reason, as returned by `toWire`. */
  v.object({ ok: v.literal(false), error: v.unknown() }),
]);

export type BrokerReady = v.InferOutput<typeof brokerReady>;
