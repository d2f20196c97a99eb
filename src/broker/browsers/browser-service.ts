import type { ServiceClient } from '../../service/index.ts';

/** The part of the service client that acquires and ends browsers; tests pass a scripted one. */
export type BrowserService = Pick<
  ServiceClient,
  | 'acquire'
  | 'createPool'
  | 'createSession'
  | 'deletePool'
  | 'getPool'
  | 'getSession'
  | 'iterateSessions'
  | 'listPools'
  | 'release'
  | 'stopSession'
  | 'updateSession'
>;

/** The part of the service client that a run needs; `ProvidedSessions` has it, too. */
export type RunClient = BrowserService &
  Pick<ServiceClient, 'close' | 'getBalance' | 'getBilling' | 'listSessions' | 'now'>;
