import { MOST_LIFETIME_MS } from '../../providers/provider-calls.ts';
import type { ParsedNote } from '../browsers/session-note.ts';
import type { LedgerContent } from '../ledger/ledger-file.ts';
import { probeSocket, type SocketProbe } from '../rpc/socket-address.ts';
import { systemIdentity } from './system-identity.ts';

/** Decides which brokers are alive, and which are certainly dead or silent for too long. */

/** A run sends a sign of life every 5 minutes; without one for this long, in ms, it counts as dead. */
const SILENT_MS = 20 * 60_000;
/** A note that is not renewed is that old, in ms, when its run is certainly over: no browser is used for longer. */
const UNRENEWED_MS = MOST_LIFETIME_MS + SILENT_MS;

/** The evidence for {@link LivenessChecker}. */
export interface Judging {
  /** The current time by the service's clock, which beats also use, in ms since the epoch. */
  now: number;
  /** Notes of the running sessions; null: they could not be listed, and silence alone makes no broker dead. */
  notes: readonly ParsedNote[] | null;
  /** Whether notes are renewed while their browsers run. Default: yes. */
  renewsNotes?: boolean | undefined;
  /** Runs that the CI reports as over. */
  overRuns: readonly string[];
  /** A run that the user declares dead, whatever its signs of life. */
  runId: string | undefined;
  /** Brokers reported dead by the process that started them. */
  deadBrokers?: readonly BrokerName[] | undefined;
  /** The broker that judges: an earlier owner of its socket is dead. */
  self: { mark: string; socket: string } | undefined;
  /** Where this check runs. Default {@link systemIdentity}. */
  place?: string | null | undefined;
  /** Checks a socket of this place. Default: connects to it. */
  askSocket?: ((path: string) => Promise<SocketProbe>) | undefined;
}

/** Identifies a broker: every shard of a run has one, and so does every replacement. */
export interface BrokerName {
  runId: string;
  mark: string;
}

export function brokerKey({ runId, mark }: BrokerName): string {
  return `${runId} ${mark}`;
}

/** Returns the broker of a session: a request begins with its broker's mark. */
export function brokerOfNote({ runId, request }: ParsedNote): string {
  return brokerKey({ runId, mark: request.slice(0, Math.max(0, request.lastIndexOf('-'))) });
}

/**
 * Distinguishes live brokers from dead ones. Every sign of life counts, wherever it appears: only a broker without any
 * is dead.
 */
export class LivenessChecker {
  /** Until when the last sign of life of each broker counts, in ms since the epoch. */
  readonly #aliveUntil = new Map<string, number>();
  /** Brokers with a certain state, by key; true: dead. */
  readonly #known = new Map<string, boolean>();
  readonly #judging: Judging;

  constructor(judging: Judging) {
    this.#judging = judging;
    for (const dead of judging.deadBrokers ?? []) this.#known.set(brokerKey(dead), true);
    const noteCounts = judging.renewsNotes === false ? UNRENEWED_MS : SILENT_MS;
    for (const note of judging.notes ?? []) this.#alive(brokerOfNote(note), note.beat.getTime() + noteCounts);
  }

  async isDead(ledger: LedgerContent): Promise<boolean> {
    const key = brokerKey(ledger);
    // A ledger is renewed: it says more than a note that is not.
    if (this.#judging.renewsNotes === false) this.#aliveUntil.delete(key);
    this.#alive(key, Date.parse(ledger.beatAt) + SILENT_MS);
    const certain = await this.#certainty(ledger);
    if (certain !== null) this.#known.set(key, certain);
    return this.#over(key, ledger.runId);
  }

  /**
   * Whether the run of a session is over, by everything known about its broker. Call {@link isDead} for every ledger
   * first.
   */
  isOver(note: ParsedNote): boolean {
    return this.#over(brokerOfNote(note), note.runId);
  }

  #over(key: string, runId: string): boolean {
    const { overRuns, runId: named, notes, now, self } = this.#judging;
    if (self && key === brokerKey({ runId, mark: self.mark })) return false;
    if (runId === named) return true;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    if (overRuns.includes(runId)) return true;
    const until = this.#aliveUntil.get(key);
    return notes !== null && until !== undefined && now > until;
  }

  /** True: dead; false: alive; null: this process cannot check it. */
  async #certainty({ mark, place, socket }: LedgerContent): Promise<boolean | null> {
    const { self, place: here = systemIdentity(), askSocket = probeSocket } = this.#judging;
    if (socket === self?.socket && place === here) return mark !== self.mark;
    if (place === null || place !== here) return null;
    const probe = await askSocket(socket);
    return probe === 'unclear' ? null : probe === 'nobody';
  }

  #alive(key: string, until: number): void {
    this.#aliveUntil.set(key, Math.max(until, this.#aliveUntil.get(key) ?? Number.NEGATIVE_INFINITY));
  }
}
