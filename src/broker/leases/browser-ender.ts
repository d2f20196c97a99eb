import { setMaxListeners } from 'node:events';
import type { Clock } from '../../common/clock.ts';
import { errorMessage } from '../../common/error-message.ts';
import { pause } from '../../common/pause.ts';
import { PoolwrightError, ServiceError } from '../../errors.ts';
import type { EndReason } from '../../record/enums.ts';
import type { BrowserService } from '../browsers/browser-service.ts';
import { finalBandwidth, LeaseEnd } from '../browsers/end-lease.ts';
import { type HeldBrowser, markEnded, markEnding } from '../browsers/held-browser.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Log } from '../log/log.ts';

/** Delay between two attempts to end a browser, in ms; grows from `first` to `most`. */
const RETRY_MS = { first: 1_000, most: 15_000 } as const;

/** What {@link BrowserEnder} needs from the broker. */
export interface EnderOptions {
  client: BrowserService;
  ledger: Ledger;
  log: Log;
  /** Fires when the run stops waiting for the service's confirmations. */
  ends: AbortSignal;
  /** Fires when the service itself is gone, with all its browsers. This happens only with the run's own emulator. */
  serviceGone: AbortSignal;
  /** Called when a browser has ended; `confirmed`: its slot at the service is free. */
  onEnded(confirmed: boolean): void;
  clock: Clock;
}

/**
 * Gives browsers back, each exactly once: marks a browser as ending before the call, retries until the service confirms
 * its end, and keeps it in the ledger until then.
 */
export class BrowserEnder {
  readonly #options: EnderOptions;
  /** Fires when no confirmation can come, or the run stops waiting for it. */
  readonly #over: AbortSignal;

  constructor(options: EnderOptions) {
    this.#options = options;
    this.#over = AbortSignal.any([options.ends, options.serviceGone]);
    setMaxListeners(0, this.#over);
  }

  /** Starts to end a browser; `held.ended` settles when this is over. */
  end(held: HeldBrowser, reason: EndReason): void {
    markEnding(held, reason, this.#options.clock.now());
    held.ended = this.#giveBack(held);
  }

  async #giveBack(held: HeldBrowser): Promise<void> {
    const { client, ledger, log, serviceGone, onEnded, clock } = this.#options;
    const { record, browser } = held;
    const refused = await this.#untilConfirmed(held);
    // All browsers of a service end with it.
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

  /** Returns null once confirmed; otherwise the reason why not. */
  async #untilConfirmed({ browser, record }: HeldBrowser): Promise<unknown> {
    const { client, log, clock } = this.#options;
    const over = this.#over;
    const end = new LeaseEnd(client, browser);
    let last: unknown;
    for (let wait: number = RETRY_MS.first; ; wait = Math.min(wait * 2, RETRY_MS.most)) {
      try {
        await end.confirm({ signal: over, reason: record.endReason ?? undefined });
        return null;
      } catch (error) {
        last = aborted(error) ? (last ?? error) : error;
        if (over.aborted || isPermanent(error)) return last;
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

/** The service understood the call and refused it: it will refuse the same call again. */
function isPermanent(error: unknown): boolean {
  return error instanceof ServiceError && error.status >= 400 && error.status < 500 && !error.retryable;
}

function aborted(error: unknown): boolean {
  return error instanceof PoolwrightError && error.code === 'ABORTED';
}
