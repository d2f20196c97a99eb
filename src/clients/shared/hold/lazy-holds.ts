import type { WatchedBroker } from '../../../broker/rpc/orders.ts';
import type { HoldBroker, Holds, HoldsOptions, WorkerHolds } from './holds.ts';

/** Where holds are recorded, and what they depend on. */
export interface LazyHoldsOptions extends Omit<HoldsOptions, 'broker'> {
  broker: Omit<HoldBroker, 'watched'> & { readonly watched: WatchedBroker };
}

/** The holds of one worker. Nothing of them is loaded before the first one. */
export function lazyHolds({ broker, ...options }: LazyHoldsOptions): WorkerHolds {
  let loading: Promise<Holds> | undefined;
  const load = async () => {
    const { watchedConnection } = await import('../../../broker/rpc/watched-connection.ts');
    const { Holds } = await import('./holds.ts');
    const watched = watchedConnection(broker.watched);
    const { redact, say } = broker;
    return new Holds({ broker: { watched, redact, say }, ...options });
  };
  const loaded = () => {
    loading ??= load();
    return loading;
  };
  return {
    hold: async (...given) => (await loaded()).hold(...given),
    holdFailed: async (...given) => (await loaded()).holdFailed(...given),
  };
}
