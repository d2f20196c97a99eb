import { setTimeout as delay } from 'node:timers/promises';
import { PoolwrightError } from '../../../errors.ts';
import type { Pool, ServiceClient } from '../../../service/index.ts';
import { withProgress } from '../../progress.ts';

/** A machine may take 3 minutes to start a browser (section 8 of the service document). */
const MOST_MS = 300_000;
const ASK_AGAIN_MS = 1_000;

/**
 * Waits until a pool's browsers are ready, or leased already. A paused one is waited for no longer.
 * @throws PoolwrightError `TIMEOUT` after 5 minutes, with the pool's status
 */
export async function waitForPool(client: ServiceClient, { id, name }: Pool): Promise<Pool> {
  return await withProgress(`pool ${name}: warming`, async (say) => {
    const until = performance.now() + MOST_MS;
    for (;;) {
      const pool = await client.getPool(id);
      const there = (pool.ready ?? 0) + (pool.leased ?? 0);
      const isWarm = typeof pool.ready === 'number' ? there >= pool.size : pool.status === 'ready';
      if (isWarm || pool.status === 'paused') return pool;
      const state = `pool ${name} is ${pool.status}: ${there} of ${pool.size} browsers are ready`;
      const why = pool.lastError ? `, last error: ${pool.lastError}` : '';
      if (performance.now() > until) {
        throw new PoolwrightError('TIMEOUT', `After ${MOST_MS / 60_000} minutes ${state}${why}.`);
      }
      say(state);
      await delay(ASK_AGAIN_MS);
    }
  });
}
