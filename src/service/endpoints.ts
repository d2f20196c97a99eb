import * as z from 'zod';
import type { ApiCall, Named } from './http/api-call.ts';
import * as schemas from './schemas/index.ts';

/** An endpoint as the client uses it. */
export interface Endpoint {
  /** Its HTTP method. */
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With names in braces: `/v1/browser/pools/{poolId}`. */
  path: string;
  /** Schema of its query; absent: it has none. */
  query?: z.ZodObject;
  /** Schema of its JSON body; absent: it has none. */
  body?: z.ZodObject;
  /** Schema of its response; unknown fields pass. */
  answer: z.ZodObject;
}

const SESSION = '/v1/browser/session';
const POOLS = '/v1/browser/pools';
const POOL = `${POOLS}/{poolId}`;
const EXTENSIONS = '/v1/browser/extensions';
const EXTENSION = `${EXTENSIONS}/{extensionId}`;

const bySession = z.strictObject({ sessionId: z.string().min(1) });
const byForce = z.strictObject({ force: z.boolean().optional() });

const ofSession = { query: bySession, subject: ({ sessionId }: Named) => `session ${sessionId}` };
const ofPool = { id: { schema: schemas.poolId, of: (id: string) => `pool ${JSON.stringify(id)}` } };
const ofExtension = {
  id: { schema: schemas.extensionId, of: () => 'an extension' },
  subject: ({ id }: Named) => `extension ${id}`,
  answer: schemas.extensionAnswer,
};
const ofProfile = {
  query: schemas.deleteProfileRequest,
  subject: ({ profileName }: Named) => `profile ${JSON.stringify(profileName)}`,
};
const ofLease = { ...ofPool, subject: ({ leaseId }: Named) => `lease ${leaseId}` };

/** Every endpoint, stated once: what is sent and received, and how its calls are made. */
export const API = {
  createSession: on('POST', SESSION, 'never', { body: schemas.createSessionRequest, answer: schemas.session }),
  getSession: on('GET', SESSION, 'always', { ...ofSession, answer: schemas.session }),
  updateSession: on('PATCH', SESSION, 'always', {
    ...ofSession,
    body: schemas.updateSessionRequest,
    answer: schemas.session,
  }),
  stopSession: on('DELETE', SESSION, 'always', {
    ...ofSession,
    answer: schemas.stopSessionResponse,
    undone: 'the session may still be running',
  }),
  listSessions: on('GET', '/v1/browser/sessions', 'always', {
    query: schemas.listSessionsRequest,
    answer: schemas.sessionList,
  }),
  createPool: on('POST', POOLS, 'never', { body: schemas.createPoolRequest, answer: schemas.pool }),
  listPools: on('GET', POOLS, 'always', { answer: schemas.poolList }),
  getPool: on('GET', POOL, 'always', { ...ofPool, answer: schemas.pool }),
  updatePool: on('PATCH', POOL, 'always', { ...ofPool, body: schemas.updatePoolRequest, answer: schemas.pool }),
  deletePool: on('DELETE', POOL, 'always', { ...ofPool, query: byForce, answer: schemas.deletePoolResponse }),
  acquire: on('POST', `${POOL}/acquire`, 'if-responded', {
    ...ofPool,
    body: schemas.acquireRequest,
    answer: schemas.acquireResponse,
  }),
  release: on('POST', `${POOL}/release`, 'always', {
    ...ofLease,
    body: schemas.releaseRequest,
    answer: schemas.releaseResponse,
  }),
  flushPool: on('POST', `${POOL}/flush`, 'if-responded', { ...ofPool, answer: schemas.flushResponse }),
  listProfiles: on('GET', '/v1/browser/profiles', 'always', { answer: schemas.profileList }),
  deleteProfile: on('DELETE', '/v1/browser/profile', 'always', {
    ...ofProfile,
    answer: schemas.deleteProfileResponse,
    undone: 'the profile may still be there',
  }),
  uploadExtension: on('POST', EXTENSIONS, 'never', { answer: schemas.extensionAnswer }),
  listExtensions: on('GET', EXTENSIONS, 'always', { answer: schemas.extensionList }),
  getExtension: on('GET', EXTENSION, 'always', ofExtension),
  replaceExtension: on('PUT', EXTENSION, 'always', ofExtension),
  deleteExtension: on('DELETE', EXTENSION, 'always', {
    ...ofExtension,
    answer: schemas.deleteExtensionResponse,
    undone: 'it may still be there',
  }),
  listDedicatedIps: on('GET', '/v1/network/ips', 'always', { answer: schemas.dedicatedIpList }),
  getBalance: on('GET', '/v1/account/balance', 'always', { answer: schemas.accountBalance }),
  getBilling: on('GET', '/v1/account/billing', 'always', { answer: schemas.accountBilling }),
};

/** The service's own description, which does not list itself. */
export const DESCRIPTION = on('GET', '/doc', 'always', { answer: schemas.description });

/**
 * Every endpoint of the service (tables A and B of the service document) with the schemas that the client checks what
 * it sends and receives. Uploads have no body here: they are forms.
 */
export const ENDPOINTS: readonly Endpoint[] = Object.values(API);

function on<R extends Omit<ApiCall, 'method' | 'path' | 'repeat'>>(
  method: ApiCall['method'],
  path: string,
  repeat: ApiCall['repeat'],
  rules: R,
) {
  return { method, path, repeat, ...rules };
}
