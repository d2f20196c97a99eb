import { connect } from 'node:net';
import type { ParsedNote } from '../../lease/note.ts';
import type { LedgerContent } from './ledger-file.ts';
import { systemIdentity } from './system-identity.ts';

/** Which broker is alive, and which one is dead beyond doubt or has been silent for too long. */

/** What a socket says about its broker; `unclear`: nothing, such as one of another user. */
export type SocketAnswer = 'answers' | 'nobody' | 'unclear';

/** A run says every 5 minutes that it is alive; one that has not for so long, in ms, is dead. */
const SILENT_MS = 20 * 60_000;
/** Bound on asking a broker's socket, in ms. */
const SOCKET_TIMEOUT_MS = 2_000;

/** What the signs are read with. */
export interface Judging {
  /** The time by the service's clock, which beats are written by, in ms since the epoch. */
  now: number;
  /** Notes of the running sessions; null when they could not be listed: then nobody is dead for silence alone. */
  notes: readonly ParsedNote[] | null;
  /** Runs that are over by the CI's own word. */
  overRuns: readonly string[];
  /** A run that is dead by the user's word, whatever its signs say. */
  runId: string | undefined;
  /** Brokers that are dead by the word of the process that started them. */
  deadBrokers?: readonly BrokerName[] | undefined;
  /** The broker that judges: one that had its socket before it is dead. */
  self: { mark: string; socket: string } | undefined;
  /** Where it judges from. Default {@link systemIdentity}. */
  place?: string | null | undefined;
  /** Asks a socket of this place. Default: connects to it. */
  askSocket?: ((path: string) => Promise<SocketAnswer>) | undefined;
}

/** Which broker: of the same run every shard has one, and every replacement too. */
export interface BrokerName {
  runId: string;
  mark: string;
}

export function brokerKey({ runId, mark }: BrokerName): string {
  return `${runId} ${mark}`;
}

/** Whose session it is: a request begins with its broker's mark. */
export function brokerOfNote({ runId, request }: ParsedNote): string {
  return brokerKey({ runId, mark: request.slice(0, Math.max(0, request.lastIndexOf('-'))) });
}

/** Tells the living from the dead. Every sign of life counts, wherever it is: only who gives none is dead. */
export class LifeSigns {
  /** Last beat of each broker in the notes of its sessions, in ms since the epoch. */
  readonly #beats = new Map<string, number>();
  /** What is certain, by a broker's key. */
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

  /** Whether nobody is behind a ledger's socket any more. */
  isForsaken(ledger: LedgerContent): boolean {
    return this.#known.get(brokerKey(ledger)) === true;
  }

  /** Whether the run of a session is over, by all that is known of its broker. Every ledger is to be judged before. */
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

  /** True: dead; false: alive; null: it cannot be asked from here. */
  async #certainty({ mark, place, socket }: LedgerContent): Promise<boolean | null> {
    const { self, place: here = systemIdentity(), askSocket = connectTo } = this.#judging;
    if (socket === self?.socket && place === here) return mark !== self.mark;
    if (place === null || place !== here) return null;
    const answer = await askSocket(socket);
    return answer === 'unclear' ? null : answer === 'nobody';
  }

  #beat(key: string, at: number): void {
    this.#beats.set(key, Math.max(at, this.#beats.get(key) ?? Number.NEGATIVE_INFINITY));
  }
}

async function connectTo(path: string): Promise<SocketAnswer> {
  if (path === '') return 'unclear';
  return await new Promise((resolve) => {
    const socket = connect({ path });
    const settle = (answer: SocketAnswer) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(answer);
    };
    // One that takes the connection and says nothing more is there all the same.
    const timer = setTimeout(() => settle('answers'), SOCKET_TIMEOUT_MS);
    socket.once('connect', () => settle('answers'));
    socket.once('error', ({ code }: NodeJS.ErrnoException) =>
      settle(code === 'ENOENT' || code === 'ECONNREFUSED' ? 'nobody' : 'unclear'),
    );
  });
}
