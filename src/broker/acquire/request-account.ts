import { PoolwrightError } from '../../errors.ts';
import { mayHaveMade } from '../../providers/failure-policy.ts';
import type { AcquireAccount, BrowserProvider, Endable } from '../../providers/port.ts';
import type { EndReason } from '../../record/enums.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { SurplusOrder } from './pending-orders.ts';

export interface AccountOptions {
  provider: Pick<BrowserProvider, 'reportsDoubt' | 'kept'>;
  /** When the request was made, in ms since the epoch. */
  askedAt: number;
  /** `req=` of the note, and the key in the ledger. */
  request: string;
  poolId: string | null;
  ledger: Pick<Ledger, 'asked' | 'got' | 'settled'>;
  /** Ends a browser that no worker gets. `key` is its own in the ledger. */
  end(browser: Endable, key: string, reason: EndReason): void;
}

/**
 * Keeps account of every browser that one request makes: each is in the ledger from the turn in which its ID is known
 * until its end is confirmed, and so is the request while it may have made one whose ID is unknown.
 */
export class RequestAccount implements AcquireAccount {
  #known: Endable | null = null;
  /** Number of creates with an unknown outcome. */
  #doubts = 0;
  #isOver = false;
  readonly #options: AccountOptions;

  constructor(options: AccountOptions) {
    this.#options = options;
    const { ledger, request, poolId } = options;
    ledger.asked(request, poolId);
  }

  get request(): string {
    return this.#options.request;
  }

  get askedAt(): number {
    return this.#options.askedAt;
  }

  /** Whether the request may have made a browser with an unknown ID. */
  get isDoubtful(): boolean {
    return this.#doubts > 0;
  }

  /** The browser that a worker will get; ends the one before it, if there is one. */
  known(browser: Endable): void {
    const { request } = this.#options;
    const before = this.#known;
    this.#known = browser;
    if (before && before.sessionId !== browser.sessionId) this.unused(before);
    this.#got(request, browser);
  }

  /** A browser that no worker will get. */
  unused(browser: Endable, reason: EndReason = 'idle'): void {
    const { request, end } = this.#options;
    const key = keyOf(request, browser);
    this.#got(key, browser);
    if (this.#known?.sessionId === browser.sessionId) this.#forget();
    end(browser, key, reason);
  }

  /** A create may have made a browser with an unknown ID. */
  doubt(): void {
    this.#doubts += 1;
  }

  /** It is known what became of one doubt. */
  certain(): void {
    this.#doubts = Math.max(0, this.#doubts - 1);
    this.#settleIfNothingIsLeft();
  }

  /** A worker can have the known browser. Returns its key in the ledger. */
  taken(): string {
    const { request } = this.#options;
    this.#isOver = true;
    const browser = this.#known;
    if (!browser || this.#doubts === 0) return request;
    // The end of this browser does not end the doubt.
    const key = keyOf(request, browser);
    this.#got(key, browser);
    this.#forget();
    return key;
  }

  /** The request has failed: nothing of it will be used. */
  failed(error: unknown): void {
    const { provider } = this.#options;
    this.#isOver = true;
    const known = this.#known;
    if (known) this.unused(known, isUnusable(error) ? 'connect-failed' : 'idle');
    else if (!provider.reportsDoubt && this.#doubts === 0 && !(error instanceof SurplusOrder) && mayHaveMade(error))
      this.#doubts = 1;
    this.#settleIfNothingIsLeft();
  }

  /** A list of all browsers that run has no other one of this request. */
  resolved(): void {
    this.#doubts = 0;
    this.#settleIfNothingIsLeft();
  }

  #settleIfNothingIsLeft(): void {
    const { ledger, request } = this.#options;
    if (this.#isOver && this.#doubts === 0 && this.#known === null) ledger.settled(request);
  }

  #got(key: string, browser: Endable): void {
    const { provider, ledger } = this.#options;
    if (ledger.got(key, browser)) provider.kept?.(browser.sessionId);
  }

  /** Takes the browser out of the request's own entry; it has another one. */
  #forget(): void {
    const { ledger, request, poolId } = this.#options;
    this.#known = null;
    ledger.asked(request, poolId);
  }
}

/** The ledger key of a further browser of a request. */
function keyOf(request: string, { sessionId }: Endable): string {
  return `${request}+${sessionId}`;
}

function isUnusable(error: unknown): boolean {
  return error instanceof PoolwrightError && error.code === 'CONNECT_FAILED';
}
