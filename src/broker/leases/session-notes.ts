import type { Clock, Timer } from '../../common/clock.ts';
import type { BrowserProvider } from '../../providers/port.ts';
import type { HeldBrowser, HeldBrowsers, WorkerSlot } from '../browsers/held-browser.ts';
import { noteFor, type RunIdentity } from '../browsers/session-note.ts';
import type { Ledger } from '../ledger/ledger.ts';

/** How often notes confirm that the run is alive, in ms. */
const BEAT_MS = 5 * 60_000;

/**
 * Keeps the notes of running sessions up to date, with at most one pending request per session; for a provider that
 * cannot renew them, does nothing.
 */
export class SessionNotes {
  /** The slot in a session's note, if it differs from the slot in the original request. */
  readonly #named = new WeakMap<HeldBrowser, WorkerSlot>();
  readonly #underway = new WeakSet<HeldBrowser>();
  readonly #notes: BrowserProvider['notes'];
  readonly #run: RunIdentity;

  constructor(notes: BrowserProvider['notes'], run: RunIdentity) {
    this.#notes = notes;
    this.#run = run;
  }

  /** Writes slot and time into a session's note. */
  write(held: HeldBrowser): void {
    if (this.#notes && !this.#underway.has(held)) void this.#write(held, this.#notes);
  }

  /** Updates the note if the browser has just been leased to a different slot than its note names. */
  writeIfMoved(held: HeldBrowser): void {
    if (this.#hasMoved(held)) this.write(held);
  }

  #hasMoved(held: HeldBrowser): boolean {
    const { project, index } = this.#named.get(held) ?? held.askedFor;
    return held.slot.index !== index || held.slot.project !== project;
  }

  async #write(held: HeldBrowser, notes: NonNullable<BrowserProvider['notes']>): Promise<void> {
    const { browser, request, slot, plan } = held;
    this.#underway.add(held);
    try {
      await notes.write(browser.sessionId, noteFor(this.#run, slot, request, plan));
      this.#named.set(held, slot);
    } catch {
      // Only a note: if the session has ended meanwhile, its worker notices. The next lease tries again.
      return;
    } finally {
      this.#underway.delete(held);
    }
    // It was leased to another slot meanwhile.
    if (held.state === 'leased') this.writeIfMoved(held);
  }
}

export interface HeartbeatOptions {
  ledger: Pick<Ledger, 'beat'>;
  browsers: HeldBrowsers;
  notes: SessionNotes;
  clock: Clock;
}

/** Repeatedly records in ledger and notes that the run is alive. Returns a function that stops this. */
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
