import type { CallOptions, CreateOptions, ServiceClientOptions } from './http/client-options.ts';
import { ServiceCore } from './http/core.ts';
import { createSession } from './resources/create-session.ts';
import type { ExtensionFile } from './resources/extension-file.ts';
import * as extensions from './resources/extensions.ts';
import * as leases from './resources/leases.ts';
import * as pools from './resources/pools.ts';
import * as profiles from './resources/profiles.ts';
import * as sessions from './resources/sessions.ts';
import * as workspace from './resources/workspace.ts';
import type {
  AccountBalance,
  AccountBilling,
  AcquireRequest,
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
    return await sessions.getSession(this.#core, sessionId, options);
  }

  /**
   * Changes a running session's note, at most 256 characters (section 4.8).
   * @throws ServiceError 400 `SERVICE_BAD_REQUEST` for an ended session
   */
  async updateSession(sessionId: string, body: UpdateSessionRequest, options: CallOptions = {}): Promise<Session> {
    return await sessions.updateSession(this.#core, sessionId, body, options);
  }

  /** One page of the workspace's sessions (section 4.8). See {@link iterateSessions} for all of them. */
  async listSessions(query: ListSessionsRequest = {}, options: CallOptions = {}): Promise<SessionPage> {
    return (await sessions.listPage(this.#core, query, options)).data;
  }

  /**
   * The sessions of every page from `query.page` on, each once, page by page as they are read; at most 1000 pages.
   * `pageSize` defaults to 100 here.
   */
  iterateSessions(
    query: ListSessionsRequest = {},
    options: CallOptions = {},
  ): AsyncGenerator<Session, void, undefined> {
    return sessions.iterateSessions(this.#core, query, options);
  }

  /**
   * Stops a session; its concurrency slot is free when this returns. Stopping an ended session is not an error
   * (sections 3.1, 4.8).
   * @throws ServiceError 404 `SERVICE_NOT_FOUND` for an ID that never was a session of this workspace
   */
  async stopSession(sessionId: string, options: CallOptions = {}): Promise<void> {
    await sessions.stopSession(this.#core, sessionId, options);
  }

  /**
   * Creates a pool of warm browsers (section 4.8). Not repeated when the outcome is unknown: the error then says that.
   * @param body `leaseTimeoutSeconds` and `maxReadyAgeSeconds` in seconds, 30 to 86 400
   * @throws ServiceError 409 `SERVICE_CONFLICT` for a name that is taken, or a size over the account's cap
   */
  async createPool(body: CreatePoolRequest, options: CallOptions = {}): Promise<Pool> {
    return await pools.createPool(this.#core, body, options);
  }

  /**
   * A pool as it is now (section 4.5).
   * @param poolId 6 to 80 characters
   * @throws ServiceError 404 `SERVICE_NOT_FOUND`
   */
  async getPool(poolId: string, options: CallOptions = {}): Promise<Pool> {
    return await pools.getPool(this.#core, poolId, options);
  }

  /** All pools of the workspace (section 4.8). */
  async listPools(options: CallOptions = {}): Promise<Pool[]> {
    return await pools.listPools(this.#core, options);
  }

  /**
   * Changes a pool (section 4.8). `browser` replaces the whole template.
   * @throws ServiceError 404 `SERVICE_NOT_FOUND`; 409 `SERVICE_CONFLICT` as for a create
   */
  async updatePool(poolId: string, body: UpdatePoolRequest, options: CallOptions = {}): Promise<Pool> {
    return await pools.updatePool(this.#core, poolId, body, options);
  }

  /**
   * Deletes a pool (section 4.8).
   * @param how `force: true` stops its leased browsers too; default false
   * @throws ServiceError 409 `SERVICE_CONFLICT` when leases are active; 404 `SERVICE_NOT_FOUND`
   */
  async deletePool(poolId: string, how: { force?: boolean } = {}, options: CallOptions = {}): Promise<void> {
    await pools.deletePool(this.#core, poolId, how, options);
  }

  /**
   * Leases a ready browser (section 4.8). A lease that comes without a usable `cdpUrl` is released before this throws.
   * Not repeated without a response: such a lease cannot be looked up, and ends at the pool's `leaseTimeoutSeconds`.
   * @param body `waitMs`: how long the service waits for a ready browser, in ms, 0 to 30 000, default 0; the bound on
   *   the request is longer by as much
   * @throws ServiceError 409 `SERVICE_POOL_EMPTY` when nothing is ready, after 3 requests; 409 `SERVICE_CONFLICT` for a
   *   paused pool; 403 `SERVICE_LIMIT_REACHED`; 404 `SERVICE_NOT_FOUND`
   */
  async acquire(poolId: string, body: AcquireRequest = {}, options: CallOptions = {}): Promise<leases.AcquiredLease> {
    return await leases.acquire(this.#core, poolId, body, options);
  }

  /**
   * Gives a leased browser back, which stops its session. Releasing it again is not an error (sections 3.3, 4.4).
   * @throws ServiceError 404 `SERVICE_NOT_FOUND` for a lease that the pool does not know
   */
  async release(poolId: string, leaseId: string, options: CallOptions = {}): Promise<ReleasedLease> {
    return await leases.release(this.#core, poolId, leaseId, options);
  }

  /**
   * Stops the ready browsers of a pool and warms fresh ones; leased ones stay (section 4.8).
   * @throws ServiceError 404 `SERVICE_NOT_FOUND`
   */
  async flushPool(poolId: string, options: CallOptions = {}): Promise<FlushedPool> {
    return await pools.flushPool(this.#core, poolId, options);
  }

  /** The saved profiles of the workspace (section 4.6). */
  async listProfiles(options: CallOptions = {}): Promise<Profile[]> {
    return await profiles.listProfiles(this.#core, options);
  }

  /** Deletes a saved profile by its name; one that is not there is no error (section 4.8). */
  async deleteProfile(profileName: string, options: CallOptions = {}): Promise<void> {
    await profiles.deleteProfile(this.#core, profileName, options);
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
    return await extensions.uploadExtension(this.#core, file, options);
  }

  /**
   * Replaces an extension with a new ZIP; its `extensionId` stays (section 4.7).
   * @param file as for {@link uploadExtension}, and so are `timeout` and the errors
   * @throws ServiceError 404 `SERVICE_NOT_FOUND`
   */
  async replaceExtension(extensionId: string, file: ExtensionFile, options: CallOptions = {}): Promise<Extension> {
    return await extensions.replaceExtension(this.#core, extensionId, file, options);
  }

  /**
   * The extensions of the workspace (section 4.8).
   * @throws ServiceError 403 `SERVICE_FORBIDDEN` when the account is not enabled for extensions
   */
  async listExtensions(options: CallOptions = {}): Promise<Extension[]> {
    return await extensions.listExtensions(this.#core, options);
  }

  /**
   * An extension by its internal ID (section 4.8).
   * @throws ServiceError 404 `SERVICE_NOT_FOUND`; 403 as {@link listExtensions}
   */
  async getExtension(extensionId: string, options: CallOptions = {}): Promise<Extension> {
    return await extensions.getExtension(this.#core, extensionId, options);
  }

  /**
   * Deletes an extension by its internal ID (section 4.8).
   * @throws ServiceError 404 `SERVICE_NOT_FOUND`; 403 as {@link listExtensions}
   */
  async deleteExtension(extensionId: string, options: CallOptions = {}): Promise<void> {
    await extensions.deleteExtension(this.#core, extensionId, options);
  }

  /** The dedicated IPs of the workspace (section 4.8). The document shows none of a record's fields. */
  async listDedicatedIps(options: CallOptions = {}): Promise<DedicatedIp[]> {
    return await workspace.listDedicatedIps(this.#core, options);
  }

  /** What the account has left, in cents; may be negative (sections 2.6, 4.8). */
  async getBalance(options: CallOptions = {}): Promise<AccountBalance> {
    return await workspace.getBalance(this.#core, options);
  }

  /**
   * The account's plan and billing (sections 2.6, 4.8). The document promises `plan.concurrent_browsers` and shows no
   * more; what else the service says is passed on. Fields ending `_ms` are Unix time in ms, bandwidth is in megabytes.
   */
  async getBilling(options: CallOptions = {}): Promise<AccountBilling> {
    return await workspace.getBilling(this.#core, options);
  }

  /**
   * The service's own description, an OpenAPI document (sections 1 and 9). Nothing below its first level is checked.
   */
  async getDescription(options: CallOptions = {}): Promise<workspace.ApiDescription> {
    return await workspace.getDescription(this.#core, options);
  }

  /**
   * Ends the client: waits for another try end at once, requests under way get up to 5 s, then the connections are
   * dropped (not those of a `dispatcher` that was passed in). Safe to call again.
   */
  async close(): Promise<void> {
    await this.#core.close();
  }
}
