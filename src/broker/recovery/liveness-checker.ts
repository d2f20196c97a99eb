import type { ParsedNote } from '../browsers/session-note.ts';
import type { LedgerContent } from '../ledger/ledger-file.ts';
import { probeSocket, type SocketProbe } from '../rpc/probe-socket.ts';
import { systemIdentity } from './system-identity.ts';

/** Decides which brokers are alive, and which are certainly dead or silent for too long. */

/** A run sends a sign of life every 5 minutes; without one for this long, in ms, it counts as dead. */
const SILENT_MS = 20 * 60_000;

/** What {@link LivenessChecker} judges by. */
export interface Judging {
  /** The current time by the service's clock, which beats also use, in ms since the epoch. */
  now: number;
  /** Notes of the running sessions; null: they could not be listed, and silence alone makes no broker dead. */
  notes: readonly ParsedNote[] | null;
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
  /** Last beat of each broker in the notes of its sessions, in ms since the epoch. */
  readonly #beats = new Map<string, number>();
  /** Brokers with a certain state, by key; true: dead. */
  readonly #known = new Map<string, boolean>();

  readonly #judging: Judging;

  constructor(judging: Judging) {
    this.#judging = judging;

    for (const dead of judging.deadBrokers ?? []) this.#known.set(brokerKey(dead), true);
    for (const note of judging.notes ?? []) this.#beat(brokerOfNote(note), note.beat.getTime());
  }

  /** Whether the broker of a ledger is dead. */
  async isDead(ledger: LedgerContent): Promise<boolean> {
    const key = brokerKey(ledger);
    this.#beat(key, Date.parse(ledger.beatAt));
    const certain = await this.#certainty(ledger);
    if (certain !== null) this.#known.set(key, certain);
    return this.#over(key, ledger.runId);
  }

  /** Whether a ledger's socket certainly has no broker any more. */
  isForsaken(ledger: LedgerContent): boolean {
    return this.#known.get(brokerKey(ledger)) === true;
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
    const beat = this.#beats.get(key);
    return notes !== null && beat !== undefined && now - beat > SILENT_MS;
  }

  /** True: dead; false: alive; null: this process cannot check it. */
  async #certainty({ mark, place, socket }: LedgerContent): Promise<boolean | null> {
    const { self, place: here = systemIdentity(), askSocket = probeSocket } = this.#judging;
    if (socket === self?.socket && place === here) return mark !== self.mark;
    if (place === null || place !== here) return null;
    const probe = await askSocket(socket);
    return probe === 'unclear' ? null : probe === 'nobody';
  }

  #beat(key: string, at: number): void {
    this.#beats.set(key, Math.max(at, this.#beats.get(key) ?? Number.NEGATIVE_INFINITY));
  }
}
