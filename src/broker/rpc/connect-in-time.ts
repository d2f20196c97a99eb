import { setTimeout as delay } from 'node:timers/promises';
import { dateNow } from '../../common/clock.ts';
import { LeaseError } from '../../errors.ts';
import { type BrokerConnection, connectToBroker } from './client.ts';
import { isRunOver } from './socket-address.ts';

/** How long a new broker, or the replacement of a dead one, may take until it listens, in ms. */
export const LISTENS_WITHIN_MS = 20_000;
/** Delay between two attempts, in ms: short while a broker starts, longer after one has died. */
const RETRY_MS = { first: 10, most: 200 };

/**
 * Connects to a broker that may not listen yet: retries until it does.
 * @param withinMs limit of the wait
 * @param isPointless whether to give up now
 * @throws LeaseError `BROKER_LOST` when no broker listens in time, or its run is over
 */
export async function connectInTime(
  withinMs: number,
  isPointless: () => boolean,
  ...[address, role, ownProject]: Parameters<typeof connectToBroker>
): Promise<BrokerConnection> {
  const until = dateNow() + withinMs;
  for (let wait = RETRY_MS.first; ; wait = Math.min(wait * 2, RETRY_MS.most)) {
    try {
      return await connectToBroker(address, role, ownProject);
    } catch (error) {
      const isLost = error instanceof LeaseError && error.code === 'BROKER_LOST';
      if (!isLost || dateNow() >= until || isPointless() || isRunOver(address.address)) throw error;
    }
    await delay(wait);
  }
}
