import type { Clock } from '../../../common/clock.ts';
import { pause } from '../../../common/pause.ts';
import { PoolwrightError, type ServiceError } from '../../../errors.ts';
import type { LeasePlan } from '../../../options/schema/plan.ts';
import { type Attempts, endsTheRun, type NextStep, nextStep } from '../../../providers/failure-policy.ts';
import {
  type AcquireRequest,
  type BrowserPool,
  type BrowserProvider,
  type GrantedBrowser,
  unleased,
} from '../../../providers/port.ts';
import type { EndReason } from '../../../record/enums.ts';
import type { AcquiredBrowser } from '../../browsers/held-browser.ts';
import { SurplusOrder } from '../pending-orders.ts';
import type { RequestAccount } from '../request-account.ts';

/** Polling interval for a found browser that is still starting, in ms … */
const POLL_MS = 1_000;

/**
 * … and the number of polls: the service's own startup deadline is at most 3 minutes (section 8 of the service
 * document).
 */
const POLLS = 190;

/** What a request needs besides its plan. */
export interface RequestOptions {
  provider: Pick<BrowserProvider, 'acquire' | 'adopt' | 'list'>;
  plan: LeasePlan;
  /** The pool to lease from; null: none. */
  pool: Pick<BrowserPool, 'acquire'> | null;
  project: string;
  /** How long it is needed at least, in ms; 0: unknown. */
  needMs(): number;
  /** The label of the browser. It is unique, so that the browser of a lost response can be found by it. */
  note: string;
  signal: AbortSignal;
  /** Fires when no more browsers are requested. */
  closes: AbortSignal;
  account: RequestAccount;
  clock: Clock;
  random(): number;
}

/**
 * One request for a browser: from the pool, then according to `plan.fallback`, or from the provider itself. After a
 * request with an unknown outcome, it looks for the browser by its label before it sends another one.
 */
export class BrowserRequest {
  /** Number of requests sent to the provider. */
  attempts = 0;
  #pool: RequestOptions['pool'];
  /** The failure after which nothing more is requested; an existing browser may still be found. */
  #last: ServiceError | null = null;
  readonly #failures: Attempts['failures'] = new Map();
  /** Browsers of lost responses … */
  readonly #found = new Set<string>();
  /** … and those of them that are being ended. */
  readonly #unused = new Set<string>();
  readonly #options: RequestOptions;

  constructor(options: RequestOptions) {
    this.#options = options;
    this.#pool = options.pool;
  }

  /**
   * Sends one request.
   * @throws ServiceError, for which {@link next} decides the next step; LeaseError `CONNECT_FAILED`
   */
  async send(): Promise<AcquiredBrowser> {
    const { plan, project, needMs, note, signal, account, clock } = this.#options;
    this.attempts += 1;
    const askedAt = clock.now();
    const { session } = plan;
    const request: AcquireRequest = { label: note, session, project, needMs: needMs(), askedAt, signal, account };
    const browser = this.#pool ? await this.#pool.acquire(request) : await this.#acquireOrFind(request);
    const expiresAt = new Date(askedAt + browser.lifetimeSeconds * 1000);
    return { ...browser, startedAt: new Date(clock.now()), expiresAt };
  }

  /** Decides the next step after a failure of {@link send}. */
  next(error: ServiceError): NextStep {
    if (this.#last) return { do: 'fail' };
    const { plan, account, random } = this.#options;
    const from = this.#pool ? 'pool' : 'session';
    const step = nextStep(error, { from, fallback: plan.fallback, failures: this.#failures }, random);
    if (step.do === 'fall-back') this.#pool = null;
    if (step.do !== 'fail' || !account.isDoubtful || endsTheRun(error)) return step;
    this.#last = error;
    return { do: 'retry', delayMs: 0, waitsFor: 'response' };
  }

  async #acquireOrFind(request: AcquireRequest): Promise<GrantedBrowser> {
    const { provider, closes, account } = this.#options;
    const wasDoubtful = account.isDoubtful;
    const found = wasDoubtful ? await this.#findAcquired(request) : null;
    if (found) return found;
    if (this.#last) throw this.#last;
    if (closes.aborted) throw new SurplusOrder();
    const browser = await provider.acquire(request);
    // It exists: a failed search for duplicates must not lose it.
    if (wasDoubtful) await this.#endTwins(browser.sessionId).catch(ignoreFailure);
    return browser;
  }

  /** Returns the browser of a lost response, once it can be used, and ends duplicates; null: none. */
  async #findAcquired(request: AcquireRequest): Promise<GrantedBrowser | null> {
    const { provider, signal, account, clock } = this.#options;
    for (let poll = 1; ; poll += 1) {
      const [kept, ...twins] = await this.#labelled();
      for (const sessionId of twins) this.#end(sessionId);
      if (kept === undefined) return null;
      account.known(unleased(kept));
      this.#isFound(kept);
      const browser = (await provider.adopt?.(kept, request)) ?? null;
      if (browser !== null && browser !== 'starting') return browser;
      // One that has no address, and is not starting, will not get one.
      if (poll >= POLLS || browser === null) this.#end(kept, 'connect-failed');
      await pause(POLL_MS, signal, clock);
    }
  }

  /** Ends the browsers that lost responses left, except the one to keep. */
  async #endTwins(keep: string): Promise<void> {
    for (const sessionId of await this.#labelled()) if (sessionId !== keep) this.#end(sessionId);
  }

  /** A request makes one browser at most: what became of it is known. */
  #isFound(sessionId: string): void {
    if (!this.#found.has(sessionId)) this.#options.account.certain();
    this.#found.add(sessionId);
  }

  #end(sessionId: string, reason?: EndReason): void {
    this.#isFound(sessionId);
    this.#unused.add(sessionId);
    this.#options.account.unused(unleased(sessionId), reason);
  }

  /** The browsers with the label of this request, but for those that are being ended. */
  async #labelled(): Promise<string[]> {
    const { provider, note: label, signal } = this.#options;
    const found: string[] = [];
    for await (const { sessionId, note } of provider.list(signal)) {
      if (note === label && !this.#unused.has(sessionId)) found.push(sessionId);
    }
    return found;
  }
}

function ignoreFailure(error: unknown): void {
  if (!(error instanceof PoolwrightError)) throw error;
}
