import type { OwnLimit, ProvidedSession, ProviderOptions } from '../../providers/provided-sessions.ts';
import type { CreateSessionRequest, ServiceClient } from '../../service/index.ts';

/** The part of the service client that acquires and ends browsers; tests pass a scripted one. */
export interface BrowserService
  extends Pick<
    ServiceClient,
    | 'acquire'
    | 'createPool'
    | 'deletePool'
    | 'getPool'
    | 'getSession'
    | 'iterateSessions'
    | 'listPools'
    | 'release'
    | 'updateSession'
  > {
  /** For the user's own browsers: what to say of their limit. */
  readonly limited?: OwnLimit;
  createSession(body?: CreateSessionRequest, options?: ProviderOptions): Promise<ProvidedSession>;
  stopSession(sessionId: string, options?: ProviderOptions): Promise<void>;
}

/** The part of the service client that a run needs; `ProvidedSessions` has it, too. */
export interface RunClient
  extends BrowserService,
    Pick<ServiceClient, 'close' | 'getBalance' | 'getBilling' | 'listSessions' | 'now'> {
  /** Whether notes are updated while their browsers run. Default: yes. */
  readonly renewsNotes?: boolean;
}
