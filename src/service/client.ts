import { ServiceError } from '../errors.ts';
import { API, DESCRIPTION } from './endpoints.ts';
import { callApi, prepare } from './http/api-call.ts';
import type { AcquireOptions, CallOptions, CreateOptions, ServiceClientOptions } from './http/client-options.ts';
import { ServiceCore } from './http/core.ts';
import { explainAmbiguous } from './http/failures.ts';
import { createSession } from './resources/create-session.ts';
import { type ExtensionFile, sendExtension } from './resources/extension-file.ts';
import { type AcquiredLease, acquire } from './resources/leases.ts';
import { iteratePages } from './resources/list-sessions.ts';
import type {
  AccountBalance,
  AccountBilling,
  AcquireRequest,
  ApiDescription,
  CreatePoolRequest,
  CreateSessionRequest,
  DedicatedIp,
  Extension,
  FlushedPool,
  ListSessionsRequest,
  Pool,
  Profile,
  ReleasedLease,
  Session,
  SessionPage,
  UpdatePoolRequest,
  UpdateSessionRequest,
} from './schemas/index.ts';

/**
 * A typed client of the hosted-browser service. It checks requests before it sends them, parses responses, and repeats
 * failed calls by the service's rules ({@link RETRY_POLICY}).
 *
 * Every method can throw, in addition to its own errors:
 * - PoolwrightError `REQUEST_INVALID`: the request exceeds the documented limits; nothing was sent. `ABORTED`: the
 *   call's signal fired, or the client is closed.
 * - ServiceError: 400 `SERVICE_BAD_REQUEST`, 401 `SERVICE_UNAUTHORIZED`, 402 `SERVICE_OUT_OF_CREDIT`,
 *   403 `SERVICE_FORBIDDEN`, 404 `SERVICE_NOT_FOUND`, 409 `SERVICE_CONFLICT`, 429 `SERVICE_RATE_LIMITED`,
 *   500 `SERVICE_FAILED`, 502 and 503 `SERVICE_UNAVAILABLE`, 504 `SERVICE_START_TIMEOUT`; with status 0
 *   `SERVICE_UNREACHABLE` (no response) and `TIMEOUT`; `SERVICE_BAD_RESPONSE` for an undocumented response, naming the
 *   field.
 *
 * No message contains the key, a `cdpUrl` or a proxy password. Section numbers are those of the service document.
 */
export class ServiceClient {
  readonly #core: ServiceCore;

  /** @throws OptionsError `OPTIONS_INVALID` with every problem, without the key. */
  constructor(options: ServiceClientOptions) {
    this.#core = new ServiceCore(options);
  }

  /**
   * The service's time in ms since the epoch: the `Date` of its last response plus the time since, or this machine's
   * time until the first response.
   */
  now(): number {
    return this.#core.now();
  }

  /**
   * Creates a session; resolves when its browser can be connected to (section 4.2).
   *
   * A create whose outcome is not known (no response, time-out, 500, 502, an unreadable success) is not simply sent
   * again. With a `note`, which must then be **unique to this call**, the session is looked for by it: the one found is
   * the response, starting ones are waited for up to about 3 minutes, and only when there is none is it created again,
   * once. Further sessions of this time with the same note are lost twins, and stopped. Without a `note`, or with
   * `retry: 'none'`, the error says that a browser may be running.
   * @param body all fields optional; `duration` in seconds, 60 to 3600, default 3600; `note` at most 256 characters
   * @param options `timeout` of one request defaults to 200 000 ms here
   * @throws ServiceError 403 `SERVICE_LIMIT_REACHED` at the concurrent-browser limit: ask again only after a session
   * ended
   */
  async createSession(body: CreateSessionRequest = {}, options: CreateOptions = {}): Promise<Session> {
    return await createSession(this.#core, body, options);
  }

  /**
   * A session as it is now, with its bandwidth in bytes once the service has it (section 4.3).
   * @throws ServiceError 404 `SERVICE_NOT_FOUND` for an ID that is not of this workspace
   */
  async getSession(sessionId: string, options: CallOptions = {}): Promise<Session> {
    return await callApi(this.#core, API.getSession, { query: { sessionId } }, options);
  }

  /**
   * Changes a running session's note, at most 256 characters (section 4.8).
   * @throws ServiceError 400 `SERVICE_BAD_REQUEST` for an ended session
   */
  async updateSession(sessionId: string, body: UpdateSessionRequest, options: CallOptions = {}): Promise<Session> {
    return await callApi(this.#core, API.updateSession, { query: { sessionId }, body }, options);
  }

  /** One page of the workspace's sessions (section 4.8). See {@link iterateSessions} for all of them. */
  async listSessions(query: ListSessionsRequest = {}, options: CallOptions = {}): Promise<SessionPage> {
    return await callApi(this.#core, API.listSessions, { query }, options);
  }

  /**
   * The sessions of every page from `query.page` on, each once, page by page as they are read; at most 1000 pages.
   * `pageSize` defaults to 100 here.
   */
  async *iterateSessions(
    query: ListSessionsRequest = {},
    options: CallOptions = {},
  ): AsyncGenerator<Session, void, undefined> {
    for await (const { sessions } of iteratePages(this.#core, query, options)) yield* sessions;
  }

  /**
   * Stops a session; its concurrency slot is free when this returns. Stopping an ended session is not an error
   * (sections 3.1, 4.8).
   * @throws ServiceError 404 `SERVICE_NOT_FOUND` for an ID that never was a session of this workspace
   */
  async stopSession(sessionId: string, options: CallOptions = {}): Promise<void> {
    await callApi(this.#core, API.stopSession, { query: { sessionId } }, options);
  }

  /**
   * Creates a pool of warm browsers (section 4.8). Not repeated when the outcome is unknown: the error then says that.
   * @param body `leaseTimeoutSeconds` and `maxReadyAgeSeconds` in seconds, 30 to 86 400
   * @throws ServiceError 409 `SERVICE_CONFLICT` for a name that is taken, or a size over the account's cap
   */
  async createPool(body: CreatePoolRequest, options: CallOptions = {}): Promise<Pool> {
    const call = prepare(this.#core, API.createPool, { body });
    const left = `The pool "${body.name}" may have been made all the same, and keep browsers warm: look with listPools before you create it again.`;
    return (await explainAmbiguous(this.#core.request(call, options), left)).data;
  }

  /**
   * A pool as it is now (section 4.5).
   * @param poolId 6 to 80 characters
   * @throws ServiceError 404 `SERVICE_NOT_FOUND`
   */
  async getPool(poolId: string, options: CallOptions = {}): Promise<Pool> {
    return await callApi(this.#core, API.getPool, { id: poolId }, options);
  }

  /** All pools of the workspace (section 4.8). */
  async listPools(options: CallOptions = {}): Promise<Pool[]> {
    return (await callApi(this.#core, API.listPools, {}, options)).pools;
  }

  /**
   * Changes a pool (section 4.8). `browser` replaces the whole template.
   * @throws ServiceError 404 `SERVICE_NOT_FOUND`; 409 `SERVICE_CONFLICT` as for a create
   */
  async updatePool(poolId: string, body: UpdatePoolRequest, options: CallOptions = {}): Promise<Pool> {
    return await callApi(this.#core, API.updatePool, { id: poolId, body }, options);
  }

  /**
   * Deletes a pool (section 4.8).
   * @param how `force: true` stops its leased browsers too; default false
   * @throws ServiceError 409 `SERVICE_CONFLICT` when leases are active; 404 `SERVICE_NOT_FOUND`
   */
  async deletePool(poolId: string, how: { force?: boolean } = {}, options: CallOptions = {}): Promise<void> {
    const query = how.force ? { force: true } : {};
    await callApi(this.#core, API.deletePool, { id: poolId, query }, options).catch(unlessDeletedBefore);
  }

  /**
   * Leases a ready browser (section 4.8). A lease that comes without a usable `cdpUrl` is released before this throws.
   * Not repeated without a response: such a lease cannot be looked up, and ends at the pool's `leaseTimeoutSeconds`.
   * @param body `waitMs`: how long the service waits for a ready browser, in ms, 0 to 30 000, default 0; the bound on
   *   the request is longer by as much
   * @throws ServiceError 409 `SERVICE_POOL_EMPTY` when nothing is ready, after 3 requests; 409 `SERVICE_CONFLICT` for a
   *   paused pool; 403 `SERVICE_LIMIT_REACHED`; 404 `SERVICE_NOT_FOUND`
   */
  async acquire(poolId: string, body: AcquireRequest = {}, options: AcquireOptions = {}): Promise<AcquiredLease> {
    return await acquire(this.#core, poolId, body, options);
  }

  /**
   * Gives a leased browser back, which stops its session. Releasing it again is not an error (sections 3.3, 4.4).
   * @throws ServiceError 404 `SERVICE_NOT_FOUND` for a lease that the pool does not know
   */
  async release(poolId: string, leaseId: string, options: CallOptions = {}): Promise<ReleasedLease> {
    return await callApi(this.#core, API.release, { id: poolId, body: { leaseId } }, options);
  }

  /**
   * Stops the ready browsers of a pool and warms fresh ones; leased ones stay (section 4.8).
   * @throws ServiceError 404 `SERVICE_NOT_FOUND`
   */
  async flushPool(poolId: string, options: CallOptions = {}): Promise<FlushedPool> {
    const sent = callApi(this.#core, API.flushPool, { id: poolId }, options);
    const left = 'The pool may have been flushed all the same: look at its `ready` and `starting`.';
    return await explainAmbiguous(sent, left);
  }

  /** The saved profiles of the workspace (section 4.6). */
  async listProfiles(options: CallOptions = {}): Promise<Profile[]> {
    return (await callApi(this.#core, API.listProfiles, {}, options)).profiles;
  }

  /** Deletes a saved profile by its name; one that is not there is no error (section 4.8). */
  async deleteProfile(profileName: string, options: CallOptions = {}): Promise<void> {
    await callApi(this.#core, API.deleteProfile, { query: { profileName } }, options);
  }

  /**
   * Uploads a Chrome extension (section 4.8). Not repeated when the outcome is unknown: the error then says that.
   * @param file a ZIP with `manifest.json` at its root, at most 128 MiB: its path (streamed from disk) or its bytes
   * @param options `timeout` of one request defaults to 300 000 ms here
   * @throws ServiceError 403 `SERVICE_FORBIDDEN` when the account is not enabled for extensions; 400
   *   `SERVICE_BAD_REQUEST` for a ZIP that is not an extension
   * @throws PoolwrightError `REQUEST_INVALID` for a file that cannot be read, is not a ZIP or is too large
   */
  async uploadExtension(file: ExtensionFile, options: CallOptions = {}): Promise<Extension> {
    const left =
      'The extension may have been stored all the same: look with listExtensions before you upload it again.';
    const sent = sendExtension(this.#core, API.uploadExtension, {}, file, options);
    return await explainAmbiguous(sent, left);
  }

  /**
   * Replaces an extension with a new ZIP; its `extensionId` stays (section 4.7).
   * @param file as for {@link uploadExtension}, which also has the default of `timeout` and the errors
   * @throws ServiceError 404 `SERVICE_NOT_FOUND`
   */
  async replaceExtension(extensionId: string, file: ExtensionFile, options: CallOptions = {}): Promise<Extension> {
    return await sendExtension(this.#core, API.replaceExtension, { id: extensionId }, file, options);
  }

  /**
   * The extensions of the workspace (section 4.8).
   * @throws ServiceError 403 `SERVICE_FORBIDDEN` when the account is not enabled for extensions
   */
  async listExtensions(options: CallOptions = {}): Promise<Extension[]> {
    return (await callApi(this.#core, API.listExtensions, {}, options)).extensions;
  }

  /**
   * An extension by its internal ID (section 4.8).
   * @throws ServiceError 404 `SERVICE_NOT_FOUND`; 403 as {@link listExtensions}
   */
  async getExtension(extensionId: string, options: CallOptions = {}): Promise<Extension> {
    return (await callApi(this.#core, API.getExtension, { id: extensionId }, options)).extension;
  }

  /**
   * Deletes an extension by its internal ID (section 4.8).
   * @throws ServiceError 404 `SERVICE_NOT_FOUND`; 403 as {@link listExtensions}
   */
  async deleteExtension(extensionId: string, options: CallOptions = {}): Promise<void> {
    await callApi(this.#core, API.deleteExtension, { id: extensionId }, options).catch(unlessDeletedBefore);
  }

  /** The dedicated IPs of the workspace (section 4.8). The document shows none of a record's fields. */
  async listDedicatedIps(options: CallOptions = {}): Promise<DedicatedIp[]> {
    return (await callApi(this.#core, API.listDedicatedIps, {}, options)).ips;
  }

  /** What the account has left, in cents; may be negative (sections 2.6, 4.8). */
  async getBalance(options: CallOptions = {}): Promise<AccountBalance> {
    return await callApi(this.#core, API.getBalance, {}, options);
  }

  /**
   * The account's plan and billing (sections 2.6, 4.8). The document promises `plan.concurrent_browsers` and shows no
   * more; what else the service says is passed on. Fields ending `_ms` are Unix time in ms, bandwidth is in megabytes.
   */
  async getBilling(options: CallOptions = {}): Promise<AccountBilling> {
    return await callApi(this.#core, API.getBilling, {}, options);
  }

  /**
   * The service's own description, an OpenAPI document (sections 1 and 9). Nothing below its first level is checked.
   */
  async getDescription(options: CallOptions = {}): Promise<ApiDescription> {
    return await callApi(this.#core, DESCRIPTION, {}, options);
  }

  /**
   * Ends the client: waits for another try end at once, requests under way get up to 5 s, then the connections are
   * dropped (not those of a `dispatcher` that was passed in). Safe to call again.
   */
  async close(): Promise<void> {
    await this.#core.close();
  }
}

/** For a delete: an earlier request of the same call has deleted it, and its response was lost. */
function unlessDeletedBefore(error: unknown): void {
  const deletedBefore = error instanceof ServiceError && error.code === 'SERVICE_NOT_FOUND' && error.attempts > 1;
  if (!deletedBefore) throw error;
}
