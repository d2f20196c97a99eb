/** `poolwright/client`: the hosted-browser service as a typed client. Works without Playwright. */

export {
  OptionsError,
  PoolwrightError,
  type PoolwrightErrorCode,
  ServiceError,
  type ServiceErrorDetails,
} from '../errors.ts';
export { ServiceClient } from './client.ts';
export { ENDPOINTS, type Endpoint } from './endpoints.ts';
export type { CallOptions, CreateOptions, RetryInfo, RetryMode, ServiceClientOptions } from './http/client-options.ts';
export {
  type Failure,
  isAmbiguous,
  nextDelay,
  RETRY_POLICY,
  type RetryCase,
  type RetryRule,
  retryCase,
  retryRule,
} from './http/retry-policy.ts';
export { LIMITS } from './limits.ts';
export type { ExtensionFile } from './resources/extension-file.ts';
export type { AcquiredLease } from './resources/leases.ts';
export type { ApiDescription } from './resources/workspace.ts';
export {
  type AccountBalance,
  type AccountBilling,
  type AcquireRequest,
  accountBalance,
  accountBilling,
  acquireRequest,
  acquireResponse,
  type CreatePoolRequest,
  type CreateSessionRequest,
  createPoolRequest,
  createSessionRequest,
  type DedicatedIp,
  dedicatedIp,
  dedicatedIpList,
  deleteExtensionResponse,
  deletePoolResponse,
  deleteProfileRequest,
  deleteProfileResponse,
  type Extension,
  extension,
  extensionAnswer,
  extensionId,
  extensionList,
  type FlushedPool,
  flushResponse,
  type ListSessionsRequest,
  listSessionsRequest,
  type Pool,
  type PoolBrowserTemplate,
  type PoolStatus,
  type Profile,
  pool,
  poolBrowserTemplate,
  poolId,
  poolList,
  poolStatuses,
  profile,
  profileList,
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
  stopSessionResponse,
  type UpdatePoolRequest,
  type UpdateSessionRequest,
  updatePoolRequest,
  updateSessionRequest,
} from './schemas/index.ts';
export { sessionTypes } from './session-types.ts';
