import * as z from 'zod';
import {
  accountBalance,
  accountBilling,
  acquireRequest,
  acquireResponse,
  createPoolRequest,
  createSessionRequest,
  dedicatedIpList,
  deleteExtensionResponse,
  deletePoolResponse,
  deleteProfileRequest,
  deleteProfileResponse,
  extensionAnswer,
  extensionList,
  flushResponse,
  listSessionsRequest,
  pool,
  poolList,
  profileList,
  releaseRequest,
  releaseResponse,
  session,
  sessionList,
  stopSessionResponse,
  updatePoolRequest,
  updateSessionRequest,
} from './schemas/index.ts';

/** An endpoint as the client uses it. */
export interface Endpoint {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With names in braces: `/v1/browser/pools/{poolId}`. */
  path: string;
  query?: z.ZodObject;
  body?: z.ZodObject;
  answer: z.ZodObject;
}

const bySession = z.strictObject({ sessionId: z.string().min(1) });
const byForce = z.strictObject({ force: z.boolean().optional() });

/**
 * Every endpoint of the service (tables A and B of the service document) with the schemas that the client checks what
 * it sends and receives. Uploads have no body here: they are forms.
 */
export const ENDPOINTS: readonly Endpoint[] = [
  { method: 'POST', path: '/v1/browser/session', body: createSessionRequest, answer: session },
  { method: 'GET', path: '/v1/browser/session', query: bySession, answer: session },
  { method: 'PATCH', path: '/v1/browser/session', query: bySession, body: updateSessionRequest, answer: session },
  { method: 'DELETE', path: '/v1/browser/session', query: bySession, answer: stopSessionResponse },
  { method: 'GET', path: '/v1/browser/sessions', query: listSessionsRequest, answer: sessionList },
  { method: 'POST', path: '/v1/browser/pools', body: createPoolRequest, answer: pool },
  { method: 'GET', path: '/v1/browser/pools', answer: poolList },
  { method: 'GET', path: '/v1/browser/pools/{poolId}', answer: pool },
  { method: 'PATCH', path: '/v1/browser/pools/{poolId}', body: updatePoolRequest, answer: pool },
  { method: 'DELETE', path: '/v1/browser/pools/{poolId}', query: byForce, answer: deletePoolResponse },
  { method: 'POST', path: '/v1/browser/pools/{poolId}/acquire', body: acquireRequest, answer: acquireResponse },
  { method: 'POST', path: '/v1/browser/pools/{poolId}/release', body: releaseRequest, answer: releaseResponse },
  { method: 'POST', path: '/v1/browser/pools/{poolId}/flush', answer: flushResponse },
  { method: 'GET', path: '/v1/browser/profiles', answer: profileList },
  { method: 'DELETE', path: '/v1/browser/profile', query: deleteProfileRequest, answer: deleteProfileResponse },
  { method: 'POST', path: '/v1/browser/extensions', answer: extensionAnswer },
  { method: 'GET', path: '/v1/browser/extensions', answer: extensionList },
  { method: 'GET', path: '/v1/browser/extensions/{extensionId}', answer: extensionAnswer },
  { method: 'PUT', path: '/v1/browser/extensions/{extensionId}', answer: extensionAnswer },
  { method: 'DELETE', path: '/v1/browser/extensions/{extensionId}', answer: deleteExtensionResponse },
  { method: 'GET', path: '/v1/network/ips', answer: dedicatedIpList },
  { method: 'GET', path: '/v1/account/balance', answer: accountBalance },
  { method: 'GET', path: '/v1/account/billing', answer: accountBilling },
];
