import type { BrokerConnection } from '../../../broker/rpc/client.ts';
import type { Holds, HoldsOptions, WorkerHolds } from './holds.ts';

/** Where holds are recorded, and what they depend on. */
export interface LazyHoldsOptions extends Omit<HoldsOptions, 'broker'> {
  broker: Pick<BrokerConnection, 'ask' | 'redact' | 'say' | 'watchOrders'>;
}

/** The holds of one worker. Nothing of them is loaded before the first one. */
export function lazyHolds({ broker, ...options }: LazyHoldsOptions): WorkerHolds {
  let loading: Promise<Holds> | undefined;
  const load = async () => {
    const { watchedCallsOver } = await import('../../../broker/rpc/watch-calls.ts');
    const { Holds } = await import('./holds.ts');
    return new Holds({ broker: { ...broker, ...watchedCallsOver(broker.ask) }, ...options });
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
