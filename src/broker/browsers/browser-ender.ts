import { setMaxListeners } from 'node:events';
import type { Clock } from '../../common/clock.ts';
import { errorMessage } from '../../common/error-message.ts';
import { pause } from '../../common/pause.ts';
import { PoolwrightError, ServiceError } from '../../errors.ts';
import type { BrowserService } from '../../lease/browser-service.ts';
import { finalBandwidth, LeaseEnd } from '../../lease/end-lease.ts';
import type { EndReason } from '../../record/run-record.ts';
import type { Log } from '../process/log.ts';
import type { Ledger } from '../recovery/ledger.ts';
import { type HeldBrowser, markEnded, markEnding } from './held-browser.ts';

/** Between two tries to end a browser, in ms; grows to the second. */
const RETRY_MS = { first: 1_000, most: 15_000 } as const;

/** What ending browsers needs of its broker. */
export interface EnderOptions {
  client: BrowserService;
  ledger: Ledger;
  log: Log;
  /** Fires when the service's word is not waited for any more. */
  ends: AbortSignal;
  /** Fires when the service itself is gone, and all its browsers with it: only that of a run's own emulator can. */
  serviceGone: AbortSignal;
  /** Called when a browser has ended; `confirmed`: its slot at the service is free. */
  onEnded(confirmed: boolean): void;
  clock: Clock;
}

/**
 * Gives browsers back, each exactly once: it is marked before the call, tried until the service has confirmed its end,
 * and stays in the ledger until then.
 */
export class BrowserEnder {
  readonly #options: EnderOptions;
  /** Fires when the service's word cannot come, or is not waited for any more. */
  readonly #over: AbortSignal;

  constructor(options: EnderOptions) {
    this.#options = options;
    this.#over = AbortSignal.any([options.ends, options.serviceGone]);
    setMaxListeners(0, this.#over);
  }

  /** Begins to end a browser; `held.ended` settles when it is over. */
  end(held: HeldBrowser, reason: EndReason): void {
    markEnding(held, reason, this.#options.clock.now());
    held.ended = this.#giveBack(held);
  }

  async #giveBack(held: HeldBrowser): Promise<void> {
    const { client, ledger, log, serviceGone, onEnded, clock } = this.#options;
    const { record, browser } = held;
    const refused = await this.#untilConfirmed(held);
    // A service that is gone has no browsers.
    const failure = serviceGone.aborted ? null : refused;
    markEnded(held, clock.now());
    onEnded(failure === null);
    if (failure !== null) {
      log.error(`session ${browser.sessionId} may still be running: its end was not confirmed`, failure);
      return;
    }
    record.endConfirmed = true;
    ledger.settled(held.request);
    if (!serviceGone.aborted) record.bandwidthBytes = await finalBandwidth(client, browser.sessionId);
    log.info(`session ${browser.sessionId} ended (${record.endReason})`);
  }

  /** Null once confirmed; else why not. */
  async #untilConfirmed({ browser }: HeldBrowser): Promise<unknown> {
    const { client, log, clock } = this.#options;
    const over = this.#over;
    const end = new LeaseEnd(client, browser);
    let last: unknown;
    for (let wait: number = RETRY_MS.first; ; wait = Math.min(wait * 2, RETRY_MS.most)) {
      try {
        await end.confirm({ signal: over });
        return null;
      } catch (error) {
        last = aborted(error) ? (last ?? error) : error;
        if (over.aborted || hopeless(error)) return last;
        log.info(`session ${browser.sessionId}: its end is not confirmed, trying again (${errorMessage(error)})`);
      }
      try {
        await pause(wait, over, clock);
      } catch {
        return last;
      }
    }
  }
}

/** The service understood and refused: the same call will be refused again. */
function hopeless(error: unknown): boolean {
  return error instanceof ServiceError && error.status >= 400 && error.status < 500 && !error.retryable;
}

function aborted(error: unknown): boolean {
  return error instanceof PoolwrightError && error.code === 'ABORTED';
}
