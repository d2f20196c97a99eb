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
