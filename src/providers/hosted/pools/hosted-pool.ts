import { hasOwnState } from '../../../options/context-mode.ts';
import type { LeasePlan } from '../../../options/schema/plan.ts';
import type { ServiceClient } from '../../../service/index.ts';
import { LIMITS } from '../../../service/limits.ts';
import type { Pool } from '../../../service/schemas/index.ts';
import type { AcquireRequest, BrowserPool, GrantedBrowser } from '../../port.ts';

/** Duration of one long poll of the pool, in ms: short, because the end of a run waits for its response. */
const POOL_WAIT_MS = 5_000;

/** A pool of the service. */
export class HostedPool implements BrowserPool {
  readonly id: string;
  readonly size: number;
  readonly #pool: Pool;
  readonly #client: ServiceClient;

  constructor(client: ServiceClient, pool: Pool) {
    this.#client = client;
    this.#pool = pool;
    this.id = pool.id;
    this.size = pool.size;
  }

  warning(wanted: number, many: string, fallback: LeasePlan['fallback']): string | null {
    const { id, name: called, status, size, ready, lastError } = this.#pool;
    const name = `pool ${called} (${id})`;
    const instead =
      fallback === 'session'
        ? 'sessions are created instead'
        : "workers wait, and fail at `acquireTimeout` (`fallback: 'fail'`)";
    if (status === 'paused' || status === 'deleting') return `${name} is ${status}: ${instead}`;
    if (status === 'degraded') return `${name} is degraded (${ready ?? 0} of ${size} ready${lastErrorOf(lastError)})`;
    if (wanted <= size) return null;
    return `${many} want ${wanted} browsers of ${name}, which keeps ${size} warm: the others take a browser's start longer`;
  }

  async explain(signal: AbortSignal): Promise<string> {
    const pool = await this.#client.getPool(this.id, { signal, retry: 'none' });
    return `pool ${pool.name} (${pool.id}) has no browser ready: it is ${pool.status}, size ${pool.size}, ${pool.ready} ready, ${pool.starting} starting, ${pool.leased} leased${lastErrorOf(pool.lastError)}`;
  }

  async acquire({ label, signal, account }: AcquireRequest): Promise<GrantedBrowser> {
    const poolId = this.id;
    const { leaseId, sessionId, servedBy, cdpUrl } = await this.#client.acquire(
      poolId,
      { waitMs: POOL_WAIT_MS },
      { signal, retry: 'none', onKnown: (lease) => account.known({ ...lease, poolId }) },
    );
    // The note tells whose session it is. A session without a note still works.
    this.#client.updateSession(sessionId, { note: label }).catch(() => undefined);
    return {
      sessionId,
      leaseId,
      poolId,
      servedBy,
      type: 'hosted',
      hasOwnState: hasOwnState(this.#pool.browser ?? {}),
      cdpUrl,
      lifetimeSeconds: this.#pool.leaseTimeoutSeconds ?? LIMITS.leaseTimeoutSeconds.default,
    };
  }
}

function lastErrorOf(error: string | null | undefined): string {
  return error ? `, its last error: "${error}"` : '';
}
