import type { EndReason } from '../record/enums.ts';

/** A service that starts browsers, or anything else that has some. Its calls may come several at a time. */
export interface Provider {
  /**
   * Starts or reserves one browser. Fails with a {@link ProviderError}; every other error counts as `UNAVAILABLE`. When
   * `signal` fires, its browser is not needed any more.
   */
  acquire(request: ProviderRequest): Promise<ProvidedBrowser>;
  /**
   * Ends a browser, or takes it back. Resolves also for one that has ended already; may be called in another process
   * than `acquire`. Repeated until it resolves.
   */
  release(id: string, reason: ReleaseReason): Promise<void>;
  /** The browsers that run, those of others included. Without it, sweeps find only those in ledgers of this machine. */
  list?(): Promise<ListedBrowser[]>;
  /** Bandwidth of a browser that has been released, in bytes; null if unknown. Without it, records have none. */
  usage?(id: string): Promise<number | null>;
  /** How many browsers may run at the same time; null if unknown. Without it, `LIMIT_REACHED` shows the limit. */
  limit?(): Promise<number | null>;
}

/** Functions that a provider may lack. */
export const OPTIONAL = ['list', 'usage', 'limit'] as const;

/** The browser that a run needs. */
export interface ProviderRequest {
  /** Names the run and this request, at most 256 characters. Keep it with the browser if `list` can return it. */
  label: string;
  /** Name of the Playwright project; empty where there is none. */
  project: string;
  /** How long the browser is needed at least, in ms; 0: unknown. */
  needMs: number;
  /** Fires when the browser is not needed any more, or takes too long. */
  signal: AbortSignal;
}

/** A browser, until it is released. */
export interface ProvidedBrowser {
  /** Different from that of every other browser. Appears in records and logs. */
  id: string;
  /** Address of its CDP (`ws://`, `wss://`), or of its debugging port (`http://`, `https://`). A secret. */
  cdpUrl: string;
  /** Sent with every connection to `cdpUrl`. Secrets. */
  headers?: Record<string, string>;
  /** When the browser ends by itself: tests get another one before. Default: not at all. */
  expiresAt?: Date | string;
}

/** A browser that runs. */
export interface ListedBrowser {
  /** As `acquire` returned it. */
  id: string;
  /** The `label` of its request; null or none: unknown. */
  label?: string | null;
}

/** Why a browser is released: as `endReason` of the record. `left-over`: a dead run, or a lost response, left it. */
export type ReleaseReason = EndReason | 'left-over';

/**
 * - `LIMIT_REACHED`: as many browsers run as may. Workers wait until one ends.
 * - `CAPACITY`: there is none at present. All requests wait, by `retryAfterMs` or longer each time, and try again.
 * - `UNAUTHORIZED`, `OUT_OF_CREDIT`: the run ends, because no browser will come.
 * - `INVALID`: the request will never work. It fails at once.
 * - `UNAVAILABLE`: the service fails or does not respond, and a browser may have been started. It is asked once more.
 */
export type ProviderErrorCode =
  | 'LIMIT_REACHED'
  | 'CAPACITY'
  | 'UNAUTHORIZED'
  | 'OUT_OF_CREDIT'
  | 'INVALID'
  | 'UNAVAILABLE';

/** A failure of a provider, with the code that decides what a run does. */
export class ProviderError extends Error {
  /** Always `ProviderError`. */
  override readonly name = 'ProviderError';
  /** What decides whether the run waits, asks again or ends. */
  readonly code: ProviderErrorCode;
  /** Of `CAPACITY`: the least time until the next request, in ms. */
  readonly retryAfterMs: number | undefined;

  constructor(code: ProviderErrorCode, message: string, options: { retryAfterMs?: number; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.code = code;
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** Checks the types of a provider, and returns it: the default export of the file that the option `provider` names. */
export function defineProvider<P extends Provider>(provider: P): P {
  return provider;
}
