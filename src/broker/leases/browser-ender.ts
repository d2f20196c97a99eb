import { setMaxListeners } from 'node:events';
import type { Clock } from '../../common/clock.ts';
import { errorMessage } from '../../common/error-message.ts';
import type { BrowserProvider } from '../../providers/port.ts';
import type { EndReason } from '../../record/enums.ts';
import { untilEnded } from '../browsers/end-lease.ts';
import { type HeldBrowser, markEnded, markEnding } from '../browsers/held-browser.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Log } from '../log/log.ts';

export interface EnderOptions {
  provider: Pick<BrowserProvider, 'release' | 'report'>;
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
    const { provider, ledger, log, serviceGone, onEnded, clock } = this.#options;
    const { record, browser } = held;
    const refused = await untilEnded({
      provider,
      browser,
      clock,
      signal: this.#over,
      reason: record.endReason ?? undefined,
      onRetry: (why) =>
        log.info(`session ${browser.sessionId}: its end is not confirmed, trying again (${errorMessage(why)})`),
    });
    // All browsers of a service end with it.
    const failure = serviceGone.aborted ? null : refused;
    markEnded(held, clock.now());
    onEnded(failure === null);
    if (failure !== null) {
      log.error(`session ${browser.sessionId} may still be running: its end was not confirmed`, failure);
      return;
    }
    record.endConfirmed = true;
    ledger.settled(held.entry);
    if (!serviceGone.aborted) {
      // Only for the record: what matters is that the browser has ended.
      record.bandwidthBytes = await provider.report(browser.sessionId).then(
        ({ bandwidthBytes }) => bandwidthBytes,
        () => null,
      );
    }
    log.info(`session ${browser.sessionId} ended (${record.endReason})`);
  }
}
