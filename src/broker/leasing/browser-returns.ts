import type { Clock, Timer } from '../../common/clock.ts';
import { type HeldBrowser, type Holder, isFresh, savesProfile, takeBackUnused } from '../browsers/held-browser.ts';
import type { HeldBrowsers } from '../browsers/held-browsers.ts';
import type { GiveBackParams } from '../rpc/protocol.ts';
import type { Supplies } from './supply/supplies.ts';

/** How long a worker waits, in ms, until a browser that it is done with has ended and its profile is saved. */
const SAVED_MS = 10_000;

/** What taking browsers back needs. */
export interface ReturnsOptions {
  browsers: HeldBrowsers;
  supplies: Supplies;
  /** Fires when no browser is lent any more. */
  closing: AbortSignal;
  clock: Clock;
}

/** Takes browsers back from workers: what is as good as before goes to the next one, everything else is ended. */
export class BrowserReturns {
  readonly #options: ReturnsOptions;

  constructor(options: ReturnsOptions) {
    this.#options = options;
  }

  /**
   * A worker lets go of its browser; a healthy one goes to the next worker. One that saves its profile when it ends is
   * ended, and waited for: the project that comes next may count on it. Nothing happens to a browser that this worker
   * does not have.
   */
  async giveBack({ sessionId, condition, toBeReplaced, unused }: GiveBackParams, holder: Holder): Promise<void> {
    const { browsers, supplies, closing } = this.#options;
    const held = browsers.get(sessionId);
    if (held?.state !== 'claimed' || held.holder !== holder) return;
    if (!unused && !toBeReplaced) supplies.of(held.plan).goesOn(holder);
    if (condition !== 'healthy') {
      supplies.end(held, condition === 'unreachable' ? 'connect-failed' : condition);
      return;
    }
    if (unused) takeBackUnused(held);
    const goesOn = (held.plan.reuse === 'run' || isFresh(held)) && !closing.aborted;
    if (goesOn && (toBeReplaced || !savesProfile(held))) return supplies.of(held.plan).offer(held);
    supplies.end(held, 'finished');
    if (savesProfile(held)) await this.#endedWithin(held, SAVED_MS);
  }

  /** A worker's connection broke: whatever it still has is ended at once, never handed on. */
  holderGone(holder: Holder): void {
    const { browsers, supplies } = this.#options;
    for (const held of browsers.claimedBy(holder)) supplies.end(held, 'worker-died');
  }

  async #endedWithin(held: HeldBrowser, ms: number): Promise<void> {
    let timer: Timer | undefined;
    const over = new Promise<void>((resolve) => {
      timer = this.#options.clock.after(ms, resolve);
      timer.unref();
    });
    await Promise.race([held.ended, over]);
    timer?.cancel();
  }
}
