import { join } from 'node:path';
import type { LimitFunction } from 'p-limit';
import { type Clock, isoTime } from '../../common/clock.ts';
import { LIMITS } from '../../service/limits.ts';
import { ApiError } from '../api-error.ts';
import type { BrowserSpec } from '../browser-spec.ts';
import type { DataDirectory } from '../disk/data-directory.ts';
import type { DedicatedIpSettings, WorkspaceSettings } from '../options.ts';
import { BrowserPool, type PoolSettings, type PoolTemplate, type PoolUpdate } from './browser-pool.ts';
import { browserSpec, type CreateBody, fieldsWithoutEffect, type TemplateBody } from './browser-request.ts';
import { BrowserSession, type SessionContext } from './browser-session.ts';
import { type FilesRequest, SessionFiles } from './session-files.ts';
import { ExtensionStore } from './stores/extension-store.ts';
import { ProfileStore } from './stores/profile-store.ts';

export interface WorkspaceContext extends SessionContext {
  clock: Clock;
  /** Names of the nodes that serve sessions. */
  nodes: readonly string[];
  warmSlots: LimitFunction;
  replaceAfterMs: number;
  /** Where profiles and extensions lie. */
  data: DataDirectory;
  /** Makes the session's CDP address known to the relay. */
  publish: (session: BrowserSession) => void;
}

/** The sessions, pools and limits of one API key. */
export class Workspace {
  readonly stores: WorkspaceStores;
  readonly #settings: WorkspaceSettings;
  readonly #context: WorkspaceContext;
  readonly #sessions = new Map<string, BrowserSession>();
  readonly #pools = new Map<string, BrowserPool>();
  readonly openedAt: string;
  /** Warnings already printed about fields without effect. */
  readonly #said = new Set<string>();

  constructor(settings: WorkspaceSettings, context: WorkspaceContext) {
    this.#settings = settings;
    this.#context = context;
    this.openedAt = isoTime(context.clock);
    this.stores = new WorkspaceStores(settings, context);
  }

  /** How many sessions may live at once. */
  get concurrentBrowsers(): number {
    return this.#settings.concurrentBrowsers;
  }

  /** Whole cents, rounded down; negative when running sessions cost more than there was. */
  get balanceCents(): number {
    return Math.floor(this.#settings.balanceCents - this.usage.millicents / 1000);
  }

  get usage(): Usage {
    return usageOf(this.sessions, this.#context.clock.now());
  }

  /** Newest first. */
  get sessions(): BrowserSession[] {
    return [...this.#sessions.values()].reverse();
  }

  get pools(): BrowserPool[] {
    return [...this.#pools.values()];
  }

  get dedicatedIps(): readonly DedicatedIpSettings[] {
    return this.#settings.dedicatedIps;
  }

  /** @throws ApiError naming the field */
  browserSpec(body: CreateBody & TemplateBody): BrowserSpec {
    for (const field of fieldsWithoutEffect(body)) this.#sayOnce(`${field} has no effect on this emulator`);
    return browserSpec(body, this.dedicatedIps);
  }

  #sayOnce(line: string): void {
    if (this.#said.has(line)) return;
    this.#said.add(line);
    this.#context.log(line);
  }

  /** Creates a session, listed and counted from now on, and not started yet. */
  createSession(body: CreateBody): BrowserSession {
    const spec = this.browserSpec(body);
    const servedBy = this.#pickNode(body.nodeId);
    this.stores.check(body);
    this.#checkLimit();
    const files = this.stores.files(body);
    const session = new BrowserSession({ spec, servedBy, note: body.note ?? null, files }, this.#context);
    this.#adopt(session);
    const duration = (body.duration ?? LIMITS.duration.default) * 1000;
    const expiry = this.#context.clock.after(duration, () => void session.stop()).unref();
    session.onEnd(expiry.cancel);
    return session;
  }

  /** @throws ApiError 404, also for a session of another workspace. */
  session(sessionId: string): BrowserSession {
    const session = this.#sessions.get(sessionId);
    if (!session) throw new ApiError(404, 'Session not found');
    return session;
  }

  createPool(settings: PoolSettings): BrowserPool {
    this.#pickNode(settings.template.body.nodeId);
    this.stores.check(settings.template.body);
    this.#checkPool(settings);
    const pool = new BrowserPool(settings, {
      clock: this.#context.clock,
      warmSlots: this.#context.warmSlots,
      replaceAfterMs: this.#context.replaceAfterMs,
      createSession: (template) => this.#warmSession(template),
      checkLimit: () => this.#checkLimit(),
      adopt: (session) => this.#adopt(session),
    });
    this.#pools.set(pool.id, pool);
    return pool;
  }

  /** @throws ApiError 404, also for a pool of another workspace. */
  pool(poolId: string): BrowserPool {
    const pool = this.#pools.get(poolId);
    if (!pool) throw new ApiError(404, 'Pool not found');
    return pool;
  }

  async updatePool(pool: BrowserPool, update: PoolUpdate): Promise<void> {
    if (update.template) {
      this.#pickNode(update.template.body.nodeId);
      this.stores.check(update.template.body);
    }
    this.#checkPool(update, pool);
    await pool.update(update);
  }

  async deletePool(pool: BrowserPool, force: boolean): Promise<void> {
    if (!force && pool.leases.active.length > 0) {
      throw new ApiError(409, 'Pool has active leases; pass force=true to stop them');
    }
    await pool.delete();
    this.#pools.delete(pool.id);
  }

  /** Stops everything that runs. */
  async stop(): Promise<void> {
    const pools = this.pools.map((pool) => pool.delete());
    // Those that have ended, too: one may be saving its profile.
    const sessions = this.sessions.map((session) => session.stop());
    await Promise.all([...pools, ...sessions]);
  }

  #warmSession({ body, spec }: PoolTemplate): BrowserSession {
    const servedBy = this.#pickNode(body.nodeId);
    const files = this.stores.files(body);
    return new BrowserSession({ spec, servedBy, note: body.note ?? null, files }, this.#context);
  }

  #adopt(session: BrowserSession): void {
    this.#sessions.set(session.sessionId, session);
    this.#context.publish(session);
    if (session.files) session.files.isUsed = true;
  }

  /**
   * Money first, then room. Sessions that start or run count, leased ones among them; browsers that wait in a pool do
   * not.
   */
  #checkLimit(): void {
    if (this.balanceCents <= 0) throw new ApiError(402, 'Insufficient balance');
    const live = this.sessions.filter(({ isLive }) => isLive).length;
    if (live >= this.#settings.concurrentBrowsers) throw new ApiError(403, 'Session limit reached');
  }

  #checkPool({ name, size }: { name?: string | undefined; size?: number | undefined }, self?: BrowserPool): void {
    const others = this.pools.filter((pool) => pool !== self);
    if (name !== undefined && others.some((pool) => pool.settings.name === name)) {
      throw new ApiError(409, `A pool named "${name}" already exists`);
    }
    if (size === undefined) return;
    const capacity = others.reduce((sum, pool) => sum + pool.settings.size, size);
    const cap = this.#settings.warmBrowserCap;
    if (capacity > cap) throw new ApiError(409, `Pool capacity ${capacity} exceeds your pool limit of ${cap}`);
  }

  #pickNode(nodeId: string | undefined): string {
    const { nodes } = this.#context;
    if (nodeId === undefined) return nodes[Math.floor(Math.random() * nodes.length)] as string;
    if (!nodes.includes(nodeId)) {
      throw new ApiError(400, `nodeId: there is no node ${nodeId}; this emulator has ${nodes.join(', ')}`);
    }
    return nodeId;
  }
}

type StoresContext = Pick<WorkspaceContext, 'data' | 'clock' | 'log'>;

/** The profiles and extensions of a workspace on disk, and the copies for its sessions. */
class WorkspaceStores {
  readonly profiles: ProfileStore;
  readonly extensions: ExtensionStore;
  readonly #extensionAccess: boolean;
  readonly #context: StoresContext;

  constructor({ name, extensionAccess }: { name: string; extensionAccess: boolean }, context: StoresContext) {
    this.#extensionAccess = extensionAccess;
    this.#context = context;
    const directory = async (store: string) =>
      join(await context.data.path(), `workspace-${encodeURIComponent(name)}`, store);
    this.profiles = new ProfileStore({ ...context, directory: () => directory('profiles') });
    this.extensions = new ExtensionStore({ ...context, directory: () => directory('extensions') });
  }

  /** Reads what an earlier emulator left in the data directory. */
  async load(): Promise<void> {
    await Promise.all([this.profiles.load(), this.extensions.load()]);
  }

  /** @throws ApiError 403 for an account without access to extensions */
  checkExtensionAccess(): void {
    if (!this.#extensionAccess) throw new ApiError(403, 'Extensions API is not enabled for this account');
  }

  /** @throws ApiError 403 for an account without access to extensions, 404 for an extension that is not there */
  check({ extensionIds = [] }: FilesRequest): void {
    if (extensionIds.length > 0) this.checkExtensionAccess();
    for (const extensionId of extensionIds) this.extensions.get(extensionId);
  }

  /** The profile and extensions of a session with this body or template; undefined: none. */
  files(request: FilesRequest): SessionFiles | undefined {
    if (!request.profile && !request.extensionIds?.length) return undefined;
    const { data, log } = this.#context;
    const { profiles, extensions } = this;
    return new SessionFiles(request, { profiles, extensions, log, isWanted: () => data.isWanted });
  }
}

/** Prices of the emulator, because the service document has none. */
const PRICES = {
  /** Millicents for an hour of a browser, from its creation to its end. */
  hour: 10_000,
  /** Millicents for a megabyte (1 000 000 bytes) through a browser's egress, counted when its session ends. */
  megabyte: 500,
} as const;

/** The part of a session that decides on its cost. */
interface ChargedSession {
  createdAt: string;
  stoppedAt: string | null;
  bandwidthBytes: number | null;
}

/** Use of all sessions so far. */
export interface Usage {
  browserMs: number;
  bandwidthBytes: number;
  millicents: number;
}

/** @param now ms since the epoch */
function usageOf(sessions: readonly ChargedSession[], now: number): Usage {
  let browserMs = 0;
  let bandwidthBytes = 0;
  for (const { createdAt, stoppedAt, bandwidthBytes: bytes } of sessions) {
    browserMs += (stoppedAt === null ? now : Date.parse(stoppedAt)) - Date.parse(createdAt);
    bandwidthBytes += bytes ?? 0;
  }
  const millicents = (browserMs / 3_600_000) * PRICES.hour + (bandwidthBytes / 1_000_000) * PRICES.megabyte;
  return { browserMs, bandwidthBytes, millicents: Math.round(millicents) };
}
