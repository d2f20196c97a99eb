import { ServiceError } from '../errors.ts';
import type { CallOptions, CreateOptions } from '../service/index.ts';
import type {
  AccountBilling,
  CreateSessionRequest,
  ListSessionsRequest,
  Session,
  SessionPage,
  UpdateSessionRequest,
} from '../service/schemas/index.ts';
import { browserIn } from './cdp-address.ts';
import { ALL_IN_USE } from './fixed-browsers.ts';
import { OPTIONAL, type ProviderRequest, type ReleaseReason } from './provider.ts';
import { type CheckedProvider, type LeasableBrowser, ProviderCalls, UNLISTED_MS } from './provider-calls.ts';

/** A session, and what only a provider's browser has. */
export type ProvidedSession = Session & { own?: OwnBrowser };

interface OwnBrowser extends Pick<LeasableBrowser, 'headers' | 'expiresAt'>, Pick<CheckedProvider, 'runsAlready'> {}

/** What a provider learns of a browser that is created or stopped, and the service does not. */
export interface ProviderOptions extends CreateOptions, Partial<Pick<ProviderRequest, 'project' | 'needMs'>> {
  reason?: ReleaseReason | undefined;
  /** Called with a browser that came when its call had failed: the caller ends it. */
  onUnused?: ((sessionId: string) => void) | undefined;
  /** Called after `onDoubt`, once it is known what became of the browser. */
  onCertain?: (() => void) | undefined;
}

/** What messages say of a limit that is not the plan's. */
export interface OwnLimit {
  /** What allows no more. */
  by: string;
  /** Why a worker waits at the limit … */
  reached: string;
  /** … and below it. */
  starting: string;
}

/** A provider's browsers as sessions of the service, so that a run leases both in the same way. */
export class ProvidedSessions {
  /** Labels stay as they are. */
  readonly renewsNotes = false;
  /** Every doubt is reported by `onDoubt`. */
  readonly reportsDoubt = true;
  /** How long after a request its browser may be missing in the list, in ms: for ever, where there is no list. */
  readonly unlistedMs: number;
  readonly limited: OwnLimit;
  /** For signs of life, in ms since the epoch: no provider tells the time of its service. */
  readonly now: () => number;
  readonly #calls: ProviderCalls;
  readonly #runsAlready: boolean | undefined;
  readonly #running = new Map<string, ProvidedSession>();
  /** Browsers that were acquired, and whose end is not confirmed. */
  readonly #ids = new Set<string>();
  #limitAsked: Promise<number | null> | null = null;

  readonly getBalance = refuse('account');
  readonly acquire = refuse('pools');
  readonly release = refuse('pools');
  readonly getPool = refuse('pools');
  readonly createPool = refuse('pools');
  readonly deletePool = refuse('pools');

  /**
   * @param name of the user's provider, for messages; default: browsers that run already
   * @param now see {@link ProvidedSessions.now}
   */
  constructor(provider: CheckedProvider, name: string | null = null, now: () => number = Date.now) {
    this.now = now;
    this.limited =
      name === null
        ? { by: '`browsers`', reached: ALL_IN_USE, starting: 'waiting for a browser of `browsers` to answer' }
        : {
            by: name,
            reached: `all browsers that ${name} allows are in use`,
            starting: `waiting for \`acquire\` of ${name}`,
          };
    this.#calls = new ProviderCalls(provider, name, now);
    this.unlistedMs = this.#calls.has('list') ? UNLISTED_MS : Number.POSITIVE_INFINITY;
    this.#runsAlready = provider.runsAlready;
  }

  /** Which optional functions the provider lacks. */
  get lacks(): (typeof OPTIONAL)[number][] {
    return OPTIONAL.filter((call) => !this.#calls.has(call));
  }

  async createSession(
    { note }: CreateSessionRequest,
    { signal = NEVER, project = '', needMs = 0, ...account }: ProviderOptions,
  ): Promise<ProvidedSession> {
    const label = note ?? '';
    let isTwice = false;
    const {
      id: sessionId,
      cdpUrl,
      ...own
    } = await this.#calls.acquire({ label, project, needMs }, signal, {
      onKnown: (id) => {
        isTwice = !this.#isNew(id);
        if (!isTwice) account.onKnown?.(id);
      },
      onUnused: (id) => {
        if (this.#isNew(id)) account.onUnused?.(id);
      },
      onDoubt: () => account.onDoubt?.(),
      onCertain: () => account.onCertain?.(),
    });
    if (isTwice)
      throw wrong(
        `\`acquire\` returned the id ${sessionId} for two browsers at the same time: each needs a different one.`,
      );
    const browser = browserIn(cdpUrl);
    const same = [...this.#running.values()].find(
      (each) => browser !== null && browserIn(each.cdpUrl ?? '') === browser,
    );
    if (same && !this.#runsAlready)
      throw wrong(
        `\`acquire\` returned the browser of ${same.sessionId} again, as ${sessionId}: each needs a different browser.`,
      );
    const session = {
      sessionId,
      cdpUrl,
      status: 'active',
      note: label,
      own: { ...own, runsAlready: this.#runsAlready },
    };
    this.#running.set(sessionId, session);
    return session;
  }

  async stopSession(sessionId: string, { signal, reason = 'left-over' }: ProviderOptions = {}): Promise<void> {
    await this.#calls.release(sessionId, reason, signal);
    this.#running.delete(sessionId);
    this.#ids.delete(sessionId);
  }

  #limit(): Promise<number | null> {
    this.#limitAsked ??= this.#calls.figure('limit');
    return this.#limitAsked;
  }

  /** False for the ID of a browser that has one already: to end the second would end the first. */
  #isNew(id: string): boolean {
    const isNew = !this.#ids.has(id);
    this.#ids.add(id);
    return isNew;
  }

  /** What a running one has used is not known before its end. */
  async getSession(sessionId: string): Promise<ProvidedSession> {
    const running = this.#running.get(sessionId);
    if (running) return running;
    return { sessionId, status: 'completed', bandwidthBytes: await this.#calls.figure('usage', sessionId) };
  }

  async updateSession(sessionId: string, { note }: UpdateSessionRequest): Promise<ProvidedSession> {
    const session = this.#running.get(sessionId);
    if (!session) return { sessionId, status: 'completed', note };
    const updated = { ...session, note };
    this.#running.set(sessionId, updated);
    return updated;
  }

  /** Checks the provider: a run's first call. */
  async listSessions(_query?: ListSessionsRequest, { signal }: CallOptions = {}): Promise<SessionPage> {
    await this.#calls.check(signal);
    // Without an answer, a run goes on: the limit shows when it is reached.
    await this.#limit().catch((error) => {
      if (error instanceof ServiceError && error.code === 'SERVICE_BAD_RESPONSE') throw error;
    });
    return { sessions: [...this.#running.values()] };
  }

  /** All that the provider lists; without a list, those of this process. */
  async *iterateSessions(
    { status }: ListSessionsRequest = {},
    { signal }: CallOptions = {},
  ): AsyncGenerator<ProvidedSession> {
    if (status !== 'active') return;
    if (!this.#calls.has('list')) return void (yield* this.#running.values());
    for (const { id: sessionId, label: note } of await this.#calls.list(signal)) {
      yield this.#running.get(sessionId) ?? { sessionId, status, note };
    }
  }

  /** The label that the provider lists a browser with; null: without one; undefined: it is not listed. */
  async labelOf(sessionId: string): Promise<string | null | undefined> {
    return (await this.#calls.list()).find(({ id }) => id === sessionId)?.label;
  }

  async getBilling(): Promise<AccountBilling> {
    return { plan: { concurrent_browsers: await this.#limit() } };
  }

  async listPools(): Promise<[]> {
    return [];
  }

  kept(sessionId: string): void {
    this.#calls.kept(sessionId);
  }

  async close(): Promise<void> {
    await this.#calls.close();
  }
}

const NEVER = new AbortController().signal;

function wrong(message: string): ServiceError {
  return new ServiceError('SERVICE_BAD_REQUEST', message, { status: 400, request: 'acquire', retryable: false });
}

/** A call that only the service has. */
function refuse(what: string): () => Promise<never> {
  const message = `Only the service has ${what}, and this run uses other browsers (\`browsers\`, \`provider\`).`;
  return async () => {
    throw new ServiceError('SERVICE_NOT_FOUND', message, { status: 404, request: what, retryable: false });
  };
}
