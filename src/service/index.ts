/** `poolwright/client`: the hosted-browser service as a typed client. Works without Playwright. */

export {
  OptionsError,
  PoolwrightError,
  type PoolwrightErrorCode,
  ServiceError,
  type ServiceErrorDetails,
} from '../errors.ts';
export { ServiceClient } from './client.ts';
export type { CallOptions, RetryInfo, RetryMode, ServiceClientOptions } from './client-options.ts';
export type { AcquiredLease } from './leases.ts';
export { LIMITS } from './limits.ts';
export {
  type Failure,
  isAmbiguous,
  nextDelay,
  RETRY_POLICY,
  type RetryCase,
  type RetryRule,
  retryCase,
  retryRule,
} from './retry-policy.ts';
export {
  type AcquireRequest,
  acquireRequest,
  acquireResponse,
  type CreatePoolRequest,
  type CreateSessionRequest,
  createPoolRequest,
  createSessionRequest,
  deletePoolResponse,
  type FlushedPool,
  flushResponse,
  type ListSessionsRequest,
  listSessionsRequest,
  type Pool,
  type PoolBrowserTemplate,
  type PoolStatus,
  pool,
  poolBrowserTemplate,
  poolId,
  poolList,
  poolStatuses,
  type ReleasedLease,
  releaseRequest,
  releaseResponse,
  type Session,
  type SessionPage,
  type SessionStatus,
  type SessionType,
  session,
  sessionList,
  sessionStatuses,
  sessionTypes,
  stopSessionResponse,
  type UpdatePoolRequest,
  type UpdateSessionRequest,
  updatePoolRequest,
  updateSessionRequest,
} from './schemas/index.ts';
