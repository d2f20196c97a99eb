import type { Clock, Timer } from '../../common/clock.ts';
import type { BrowserService } from '../../lease/browser-service.ts';
import type { Ledger } from '../recovery/ledger.ts';
import type { HeldBrowser } from './held-browser.ts';
import type { HeldBrowsers } from './held-browsers.ts';
import { noteFor, type RunIdentity } from './run-identity.ts';

/** How often notes say that the run is alive, in ms. */
const BEAT_MS = 5 * 60_000;

/** Keeps the notes of running sessions true. */
export class SessionNotes {
  readonly #client: Pick<BrowserService, 'updateSession'>;
  readonly #run: RunIdentity;

  constructor(client: Pick<BrowserService, 'updateSession'>, run: RunIdentity) {
    this.#client = client;
    this.#run = run;
  }

  /** Writes slot and time into a session's note. */
  write({ browser, request, slot, plan }: HeldBrowser): void {
    const note = noteFor(this.#run, slot, request, plan);
    // Only a note: a session that has ended meanwhile is found out by its worker.
    this.#client.updateSession(browser.sessionId, { note }).catch(() => undefined);
  }

  /** Writes it when the browser has just been lent to another slot than the one that its note names. */
  writeIfMoved(held: HeldBrowser): void {
    const { record, slot } = held;
    if (record.workersServed > 1 || slot.index !== record.parallelIndex) this.write(held);
  }
}

/** What says that the run is alive. */
export interface HeartbeatOptions {
  ledger: Pick<Ledger, 'beat'>;
  browsers: HeldBrowsers;
  notes: SessionNotes;
  clock: Clock;
}

/** Says from now on, again and again, in ledger and notes that the run is alive. Returns the function that ends that. */
export function startHeartbeat({ ledger, browsers, notes, clock }: HeartbeatOptions): () => void {
  let timer: Timer;
  const later = () => {
    timer = clock.after(BEAT_MS, () => {
      ledger.beat();
      for (const held of browsers.held) notes.write(held);
      later();
    });
    timer.unref();
  };
  later();
  return () => timer.cancel();
}
