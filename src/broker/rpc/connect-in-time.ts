import { setTimeout as delay } from 'node:timers/promises';
import { LeaseError } from '../../errors.ts';
import { type BrokerConnection, connectToBroker } from './client.ts';

/** How long a broker that starts, or takes the place of one that died, has to listen, in ms. */
export const LISTENS_WITHIN_MS = 20_000;
/** Between two tries, in ms: at first a broker is about to listen, later it has died. */
const RETRY_MS = { first: 10, most: 200 };

/**
 * Opens a line to a broker that may not listen yet: tried again until it does.
 * @param withinMs bound on the waiting
 * @param isPointless whether to give up now
 * @throws LeaseError `BROKER_LOST` when nobody listens in time
 */
export async function connectInTime(
  withinMs: number,
  isPointless: () => boolean,
  ...[address, role, ownProject]: Parameters<typeof connectToBroker>
): Promise<BrokerConnection> {
  const until = Date.now() + withinMs;
  for (let wait = RETRY_MS.first; ; wait = Math.min(wait * 2, RETRY_MS.most)) {
    try {
      return await connectToBroker(address, role, ownProject);
    } catch (error) {
      const isLost = error instanceof LeaseError && error.code === 'BROKER_LOST';
      if (!isLost || Date.now() >= until || isPointless()) throw error;
    }
    await delay(wait);
  }
}
