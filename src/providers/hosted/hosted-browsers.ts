import { LeaseError, ServiceError } from '../../errors.ts';
import { hasOwnState } from '../../options/context-mode.ts';
import type { ServiceClient } from '../../service/index.ts';
import { LIMITS } from '../../service/limits.ts';
import { runningSessions } from '../../service/resources/list-sessions.ts';
import type { Session } from '../../service/schemas/index.ts';
import type {
  AcquireRequest,
  Balance,
  BrowserProvider,
  BrowserReport,
  Endable,
  GrantedBrowser,
  PoolProvider,
  ReleaseOptions,
  RunningBrowser,
} from '../port.ts';
import { isOfBroker, markInName } from './pools/pool-mark.ts';
import { deleteRunPool, HostedRunPools } from './pools/run-pools.ts';

/** Deadline of the first call to the service, in ms: a wrong address is reported before the run begins. */
const CHECK_TIMEOUT_MS = 10_000;
/** One request for a figure of the account: a figure is not worth a longer wait. */
const FIGURE = { timeout: 5_000, retry: 'none' } as const;
/** The same release gets the same response again. 401 is not listed: without a valid key, a stop is refused too. */
const REFUSALS = new Set([400, 403, 404, 409]);

/** Browsers of the service. Requests of a run are sent once: the broker's queue decides what follows a failure. */
export class HostedBrowsers implements BrowserProvider {
  readonly limited = {
    by: 'the plan',
    reached: 'the workspace is at its concurrent-browser limit',
    starting: 'waiting for the service to start one',
    isShared: true,
  };
  readonly reportsDoubt = false;
  readonly unlistedMs = 0;
  readonly notes = {
    write: async (sessionId: string, note: string) => await this.#client.updateSession(sessionId, { note }),
  };
  readonly pools: PoolProvider = {
    ofRun: (...run) => new HostedRunPools(this.#client, ...run),
    madeBy: async (brokers, runs) => {
      const pools = await this.#client.listPools();
      const ofBrokers = brokers.flatMap((broker) =>
        pools.flatMap((pool) => (isOfBroker(pool, broker.mark) ? { ...broker, id: pool.id, isOfRun: false } : [])),
      );
      const ofRuns = runs.flatMap(({ runId, suite }) =>
        pools.flatMap(({ id, name }) => {
          const mark = markInName(name, { runId, suite });
          return mark === null ? [] : { id, runId, mark, isOfRun: true };
        }),
      );
      return [...ofBrokers, ...ofRuns];
    },
    delete: (idOrName, mark, signal) => deleteRunPool(this.#client, idOrName, mark, signal),
  };
  /** Leases that their pool has forgotten (expired, pool deleted), or refuses to take back. */
  readonly #refused = new Set<string>();
  readonly #client: ServiceClient;

  constructor(client: ServiceClient) {
    this.#client = client;
  }

  now(): number {
    return this.#client.now();
  }

  async check(signal?: AbortSignal): Promise<void> {
    await this.#client.listSessions({ pageSize: 1 }, { timeout: CHECK_TIMEOUT_MS, signal });
  }

  async limit(): Promise<number | null> {
    return (await this.#client.getBilling(FIGURE)).plan?.concurrent_browsers ?? null;
  }

  async balance(): Promise<Balance | null> {
    const { balance_cents: cents } = await this.#client.getBalance(FIGURE);
    const warning = cents > 0 ? null : `the workspace's balance is ${cents} cents: no browser will start (402)`;
    return { cents, warning };
  }

  async acquire(request: AcquireRequest): Promise<GrantedBrowser> {
    const { session, label: note, signal, repeats, account } = request;
    const made = await this.#client.createSession(
      { ...session, note },
      {
        signal,
        retry: repeats ? 'policy' : 'none',
        onDoubt: () => account.doubt(),
        onKnown: (sessionId) => account.known({ sessionId, leaseId: null, poolId: null }),
      },
    );
    const { sessionId } = made;
    const problem = `Session ${sessionId} was created but has no CDP address.`;
    if (!made.cdpUrl) throw new LeaseError('CONNECT_FAILED', problem, { sessionId });
    return granted(made, made.cdpUrl, request);
  }

  async adopt(sessionId: string, request: AcquireRequest): Promise<GrantedBrowser | 'starting' | null> {
    const session = await this.#client.getSession(sessionId, { signal: request.signal });
    if (session.status === 'active' && session.cdpUrl) return granted(session, session.cdpUrl, request);
    return session.status === 'completed' ? null : 'starting';
  }

  /**
   * Releases a leased browser or stops a created session, with the client's own retries; the service handles both calls
   * idempotently (sections 3.3, 4.8). A session that the service no longer knows has ended. A lease that is not taken
   * back may still have a running session: this session is stopped.
   */
  async release({ sessionId, leaseId, poolId }: Endable, { signal }: ReleaseOptions = {}): Promise<void> {
    if (leaseId !== null && poolId !== null && !this.#refused.has(leaseId)) {
      try {
        await this.#client.release(poolId, leaseId, { signal });
        return;
      } catch (error) {
        if (!(error instanceof ServiceError) || !REFUSALS.has(error.status)) throw error;
        this.#refused.add(leaseId);
      }
    }
    try {
      await this.#client.stopSession(sessionId, { signal });
    } catch (error) {
      if (!(error instanceof ServiceError) || error.status !== 404) throw error;
    }
  }

  list(signal?: AbortSignal): AsyncIterable<RunningBrowser> {
    return runningSessions(this.#client, { signal });
  }

  async report(sessionId: string, timeout?: number): Promise<BrowserReport> {
    const once = timeout === undefined ? {} : ({ timeout, retry: 'none' } as const);
    const { status, stoppedAt = null, bandwidthBytes = null } = await this.#client.getSession(sessionId, once);
    return { status, stoppedAt, bandwidthBytes };
  }

  async close(): Promise<void> {
    await this.#client.close();
  }
}

function granted({ sessionId, servedBy = null }: Session, cdpUrl: string, { session }: AcquireRequest): GrantedBrowser {
  return {
    sessionId,
    leaseId: null,
    poolId: null,
    servedBy,
    type: session.type ?? 'hosted',
    hasOwnState: hasOwnState(session),
    cdpUrl,
    lifetimeSeconds: session.duration ?? LIMITS.duration.default,
  };
}
