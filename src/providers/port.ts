import type { BrowserIdentity } from '../common/browser-identity.ts';
import type { LeasePlan } from '../options/schema/plan.ts';
import type { RetryInfo, SessionType } from '../service/index.ts';
import type { ProviderRequest, ReleaseReason } from './provider.ts';

/** Kinds of browser. */
export { sessionTypes } from '../service/limits.ts';

/**
 * Where browsers come from, as a run, a sweep and `doctor` know it: the service, the user's provider, or browsers that
 * run already. Failures are a ServiceError, of which `failure-policy` decides what follows, or a LeaseError
 * `CONNECT_FAILED`; a call that its signal ends fails with `ABORTED`. What not every provider has is optional.
 */
export interface BrowserProvider {
  readonly limited: ProviderLimit;
  /** Whether every doubt is reported to the account. Otherwise failures may be in doubt, too. */
  readonly reportsDoubt: boolean;
  /** How long after a request its browser may be missing in the list, in ms; `Infinity`: there is no list. */
  readonly unlistedMs: number;
  /** For signs of life, in ms since the epoch: a clock that those who judge them share. */
  now(): number;
  /** A run's first call: whether browsers can come. */
  check(signal?: AbortSignal): Promise<void>;
  /** How many browsers may run at the same time; null: unknown. */
  limit(): Promise<number | null>;
  /** Sends one request for a browser. */
  acquire(request: AcquireRequest): Promise<GrantedBrowser>;
  /**
   * The browser of a request without a response, once it can be used; `starting`: not yet; null: never. Without this,
   * such a browser is ended.
   */
  adopt?(sessionId: string, request: AcquireRequest): Promise<GrantedBrowser | 'starting' | null>;
  /** Ends a browser, or takes it back; resolves when that is confirmed, also for one that has ended already. */
  release(browser: Endable, options?: ReleaseOptions): Promise<void>;
  /** The browsers that run, those that start and those of others included. */
  list(signal?: AbortSignal): AsyncIterable<RunningBrowser>;
  /** What is known of a browser. @param timeout of the single request, in ms; default: the provider's, with retries */
  report(sessionId: string, timeout?: number): Promise<BrowserReport>;
  close(): Promise<void>;
  /** This browser is in a ledger on disk: if this process dies, others release it. */
  kept?(sessionId: string): void;
  /** Labels that can be renewed while their browsers run. */
  notes?: { write(sessionId: string, note: string): Promise<unknown> };
  /** Money of the account; null: unknown. */
  balance?(): Promise<Balance | null>;
  /** Browsers that are kept ready. */
  pools?: PoolProvider;
}

/** What limits the number of browsers, for messages. */
export interface ProviderLimit {
  by: string;
  /** Why a worker waits at the limit … */
  reached: string;
  /** … and below it. */
  starting: string;
  /** Whether others use it up, too: those whose browsers are in the list. */
  isShared: boolean;
}

/** A failed call that is repeated. */
export type Refusal = RetryInfo;

/** The browser to end and how it was acquired. Its server does not matter at the end. */
export type Endable = Omit<BrowserIdentity, 'servedBy'>;

/** One that is not of a pool. */
export function unleased(sessionId: string): Endable {
  return { sessionId, leaseId: null, poolId: null };
}

export interface ReleaseOptions {
  signal?: AbortSignal | undefined;
  /** Default `left-over`. */
  reason?: ReleaseReason | undefined;
}

/** A label has at most so many characters. */
export const MOST_LABEL = 256;

/** One request for a browser. */
export interface AcquireRequest extends ProviderRequest {
  session: LeasePlan['session'];
  /** When it is sent, in ms since the epoch. */
  askedAt: number;
  /** Whether the provider repeats it after a failure, where that can help. Default: no. */
  repeats?: boolean;
  account: AcquireAccount;
}

/** Keeps account of what a request makes. Each is called in the turn in which the fact is known. */
export interface AcquireAccount {
  /** The caller ends this browser, also if the call fails. */
  known(browser: Endable): void;
  /** The same for one that came when the call had failed. */
  unused(browser: Endable): void;
  /** A browser may have been made, and its ID is unknown. */
  doubt(): void;
  /** What became of it is known after all. */
  certain(): void;
}

/** A browser that a request got. */
export interface GrantedBrowser extends BrowserIdentity {
  /** Kind of browser. A pool's template does not name one: `hosted`. Null: the user's own. */
  readonly type: SessionType | null;
  /** Whether it has a profile or extensions, which are visible only in its default context. */
  readonly hasOwnState: boolean;
  /** Whether others may use it at the same time, because it runs already. Default: no. */
  readonly runsAlready?: boolean | undefined;
  /** A secret: it gives full control over the browser. */
  readonly cdpUrl: string;
  /** Sent with each connection to `cdpUrl`. Secrets. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Maximum lifetime since the request, in seconds. */
  readonly lifetimeSeconds: number;
}

/** A browser that runs. */
export interface RunningBrowser {
  sessionId: string;
  /** Its label. */
  note?: string | null | undefined;
}

/** Null where nothing is known. */
export interface BrowserReport {
  status: string | null;
  /** ISO 8601: when it ended. */
  stoppedAt: string | null;
  bandwidthBytes: number | null;
}

export interface Balance {
  cents: number;
  /** For the user: what follows from it before a run. Null: nothing. */
  warning: string | null;
}

/** The run that makes pools. */
export interface PoolOwner {
  runId: string;
  suite: string;
  /** Distinguishes its broker from every other one. */
  mark: string;
}

export interface PoolProvider {
  /**
   * @param ledger learns of each pool before it is requested, and of its end
   * @param workers number of browsers in a pool without `size`
   * @param createsNamed whether named pools are created, too: the run's own emulator begins without pools
   */
  ofRun(run: PoolOwner, ledger: PoolLedger, workers: number, createsNamed: boolean): RunPools;
  /** The pools of these brokers, and of these runs, whatever their broker. */
  madeBy(brokers: readonly Omit<PoolOwner, 'suite'>[], runs: readonly Omit<PoolOwner, 'mark'>[]): Promise<MadePool[]>;
  /**
   * Deletes a pool that the broker with this mark created, and ends its browsers.
   * @param idOrName as in the ledger: the ID once it is known, the name before
   * @returns its name; null if it does not exist
   */
  delete(idOrName: string, mark: string, signal?: AbortSignal): Promise<string | null>;
}

export interface PoolLedger {
  poolAsked(name: string): void;
  poolGone(name: string): void;
}

/** A pool of a run. */
export interface MadePool extends Omit<PoolOwner, 'suite'> {
  id: string;
  /** Whether only its run is known, not its broker. */
  isOfRun: boolean;
}

/** The pools of a run: each is found, or created, once. */
export interface RunPools {
  /**
   * The pool of a plan; null: it names none.
   * @param signal ends the search for a pool that is not known yet, for everyone who waits for it
   * @throws OptionsError if there is no such pool
   */
  resolve(plan: Pick<LeasePlan, 'pool' | 'session'>, signal?: AbortSignal): Promise<BrowserPool | null>;
  /** Deletes the pools created for this run; returns the failures. */
  deleteOwn(signal?: AbortSignal): Promise<unknown[]>;
}

export interface BrowserPool {
  readonly id: string;
  /** Number of browsers that it keeps ready. */
  readonly size: number;
  /** What a run should know of it before it begins; null: nothing. @param many who wants so many browsers */
  warning(wanted: number, many: string, fallback: LeasePlan['fallback']): string | null;
  /** Its state, for a message about a worker that waits for it. */
  explain(signal: AbortSignal): Promise<string>;
  /** Sends one request for a browser of it. */
  acquire(request: AcquireRequest): Promise<GrantedBrowser>;
}
