import { ServiceError } from '../../../../src/errors.ts';
import type { ServiceClient } from '../../../../src/service/index.ts';

/** A session of the scripted workspace. */
export interface ScriptedSession {
  sessionId: string;
  note: string | null;
  running: boolean;
  lease: { leaseId: string; poolId: string } | null;
}

/** The part of a workspace that a sweep sees, as a plain object: without a socket or a clock. */
export class ScriptedWorkspace {
  readonly sessions: ScriptedSession[] = [];
  readonly pools: { id: string; name: string }[] = [];
  private readonly failing = new Set<number>();
  private calls = 0;
  private made = 0;
  /** The client of a sweep: only the methods that it calls. */
  readonly client: ServiceClient = this.makeClient();

  /** @param now the service's clock, in ms since the epoch */
  constructor(private readonly now: () => number = Date.now) {}

  /** Makes later calls with these numbers fail, as on an overloaded service. The first one is 0. */
  failAt(calls: Iterable<number>): void {
    this.calls = 0;
    this.failing.clear();
    for (const call of calls) this.failing.add(call);
  }

  get running(): string[] {
    return this.sessions.filter(({ running }) => running).map(({ sessionId }) => sessionId);
  }

  create(note: string | null, lease: ScriptedSession['lease'] = null): ScriptedSession {
    this.made += 1;
    const session = { sessionId: `s-${this.made}`, note, running: true, lease };
    this.sessions.push(session);
    return session;
  }

  private makeClient(): ServiceClient {
    const stop = (found: ScriptedSession | undefined) => {
      this.answer();
      if (!found) throw refusal(404);
      found.running = false;
    };
    const client = {
      now: () => this.now(),
      iterateSessions: (query: { status?: string }) => this.list(query.status),
      getSession: async (id: string) => this.sessions.find(({ sessionId }) => sessionId === id),
      stopSession: async (id: string) => stop(this.sessions.find(({ sessionId }) => sessionId === id)),
      release: async (poolId: string, id: string) =>
        stop(this.sessions.find(({ lease }) => lease?.leaseId === id && lease.poolId === poolId)),
      listPools: async () => {
        this.answer();
        return [...this.pools];
      },
      deletePool: async (id: string) => {
        this.answer();
        const at = this.pools.findIndex((pool) => pool.id === id);
        if (at < 0) throw refusal(404);
        this.pools.splice(at, 1);
        for (const session of this.sessions) if (session.lease?.poolId === id) session.running = false;
      },
    };
    return client as unknown as ServiceClient;
  }

  private async *list(status: string | undefined) {
    this.answer();
    if (status === 'active') yield* this.sessions.filter(({ running }) => running);
  }

  private answer(): void {
    this.calls += 1;
    if (this.failing.has(this.calls - 1)) throw refusal(503);
  }
}

function refusal(status: 404 | 503): ServiceError {
  const code = status === 404 ? 'SERVICE_NOT_FOUND' : 'SERVICE_UNAVAILABLE';
  return new ServiceError(code, `the service responded with ${status}`, {
    status,
    request: 'scripted',
    retryable: false,
  });
}
