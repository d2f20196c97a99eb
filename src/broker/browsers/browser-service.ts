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
  /** Whether `onDoubt` is called for every create with an unknown outcome. Default: failures may be in doubt, too. */
  readonly reportsDoubt?: boolean;
  /**
   * How long after a request its browser may be missing in the list, in ms; `Infinity`: there is no list. Default 0.
   */
  readonly unlistedMs?: number;
  /** The session is in a ledger on disk: if this process dies, others end it. */
  kept?(sessionId: string): void;
  createSession(body: CreateSessionRequest, options: ProviderOptions): Promise<ProvidedSession>;
  stopSession(sessionId: string, options?: ProviderOptions): Promise<void>;
}

/** The part of the service client that a run needs; `ProvidedSessions` has it, too. */
export interface RunClient
  extends BrowserService,
    Pick<ServiceClient, 'close' | 'getBalance' | 'getBilling' | 'listSessions' | 'now'> {
  /** Whether notes are updated while their browsers run. Default: yes. */
  readonly renewsNotes?: boolean;
}
