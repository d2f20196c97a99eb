import { type Clock, isoTime } from '../../common/clock.ts';
import { ApiError } from '../api-error.ts';

/** What the emulator charges: the document shows no prices, so these are its own. */
const PRICES = {
  /** Millicents for an hour of a browser, from its creation to its end. */
  hour: 10_000,
  /** Millicents for a megabyte (1 000 000 bytes) through a browser's egress, counted when its session ends. */
  megabyte: 500,
} as const;

/** What an account needs to know of a session. */
export interface ChargedSession {
  createdAt: string;
  stoppedAt: string | null;
  bandwidthBytes: number | null;
}

/** Use of all sessions so far. */
export interface Usage {
  browserMs: number;
  bandwidthBytes: number;
  millicents: number;
}

/** A workspace's balance: the initial one, less the cost of its sessions. */
export class Account {
  readonly #startCents: number;
  readonly #clock: Clock;
  readonly openedAt: string;

  constructor(startCents: number, clock: Clock) {
    this.#startCents = startCents;
    this.#clock = clock;
    this.openedAt = isoTime(clock);
  }

  usage(sessions: readonly ChargedSession[]): Usage {
    const now = this.#clock.now();
    let browserMs = 0;
    let bandwidthBytes = 0;
    for (const { createdAt, stoppedAt, bandwidthBytes: bytes } of sessions) {
      browserMs += (stoppedAt === null ? now : Date.parse(stoppedAt)) - Date.parse(createdAt);
      bandwidthBytes += bytes ?? 0;
    }
    const millicents = (browserMs / 3_600_000) * PRICES.hour + (bandwidthBytes / 1_000_000) * PRICES.megabyte;
    return { browserMs, bandwidthBytes, millicents: Math.round(millicents) };
  }

  /** Whole cents, rounded down; negative when running sessions cost more than there was. */
  balanceCents(sessions: readonly ChargedSession[]): number {
    return Math.floor(this.#startCents - this.usage(sessions).millicents / 1000);
  }

  /** @throws ApiError 402 when nothing is left. */
  check(sessions: readonly ChargedSession[]): void {
    if (this.balanceCents(sessions) <= 0) throw new ApiError(402, 'Insufficient balance');
  }
}
