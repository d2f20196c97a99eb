import { ServiceError } from '../errors.ts';
import type { CallOptions } from '../service/index.ts';
import type {
  CreateSessionRequest,
  ListSessionsRequest,
  Session,
  SessionPage,
  UpdateSessionRequest,
} from '../service/schemas/index.ts';
import type { BrowserProvider } from './provider.ts';

/** A provider's browsers as sessions of the service, so that a run leases both in the same way. */
export class ProvidedSessions {
  readonly #provider: BrowserProvider;
  readonly #running = new Map<string, Session>();

  readonly getBilling = refuse('account');
  readonly getBalance = refuse('account');
  readonly acquire = refuse('pools');
  readonly release = refuse('pools');
  readonly getPool = refuse('pools');
  readonly createPool = refuse('pools');
  readonly deletePool = refuse('pools');

  constructor(provider: BrowserProvider) {
    this.#provider = provider;
  }

  now(): number {
    return Date.now();
  }

  async createSession({ note }: CreateSessionRequest = {}, { signal }: CallOptions = {}): Promise<Session> {
    const { id: sessionId, cdpUrl } = await this.#provider.acquire(signal ?? new AbortController().signal);
    const session: Session = { sessionId, cdpUrl, status: 'active', note: note ?? null };
    this.#running.set(sessionId, session);
    return session;
  }

  async stopSession(sessionId: string): Promise<void> {
    await this.#provider.release(sessionId);
    this.#running.delete(sessionId);
  }

  /** It has no figures. */
  async getSession(sessionId: string): Promise<Session> {
    return this.#running.get(sessionId) ?? { sessionId, status: 'completed' };
  }

  async updateSession(sessionId: string, { note }: UpdateSessionRequest): Promise<Session> {
    const session = { ...(await this.getSession(sessionId)), note };
    if (this.#running.has(sessionId)) this.#running.set(sessionId, session);
    return session;
  }

  /** Checks that there is a browser: a run's first call. */
  async listSessions(_query?: ListSessionsRequest, { signal }: CallOptions = {}): Promise<SessionPage> {
    await this.#provider.check(signal ?? new AbortController().signal);
    return { sessions: [...this.#running.values()] };
  }

  async *iterateSessions({ status }: ListSessionsRequest = {}): AsyncGenerator<Session> {
    if (status === 'active') yield* this.#running.values();
  }

  async listPools(): Promise<[]> {
    return [];
  }

  async close(): Promise<void> {}
}

/** A call that only the service has. */
function refuse(what: string): () => Promise<never> {
  const message = `Browsers that run already (\`browsers\`, POOLWRIGHT_CDP_URL) have no ${what}.`;
  return async () => {
    throw new ServiceError('SERVICE_NOT_FOUND', message, { status: 404, request: what, retryable: false });
  };
}
