import type { ServiceClient } from '../service/index.ts';

/** What getting and ending browsers uses of the service's client; a test passes a scripted one. */
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
