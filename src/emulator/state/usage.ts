/** Prices of the emulator, because the service document has none. */
const PRICES = {
  /** Millicents for an hour of a browser, from its creation to its end. */
  hour: 10_000,
  /** Millicents for a megabyte (1 000 000 bytes) through a browser's egress, counted when its session ends. */
  megabyte: 500,
} as const;

/** The part of a session that decides on its cost. */
interface ChargedSession {
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

/** @param now ms since the epoch */
export function usageOf(sessions: readonly ChargedSession[], now: number): Usage {
  let browserMs = 0;
  let bandwidthBytes = 0;
  for (const { createdAt, stoppedAt, bandwidthBytes: bytes } of sessions) {
    browserMs += (stoppedAt === null ? now : Date.parse(stoppedAt)) - Date.parse(createdAt);
    bandwidthBytes += bytes ?? 0;
  }
  const millicents = (browserMs / 3_600_000) * PRICES.hour + (bandwidthBytes / 1_000_000) * PRICES.megabyte;
  return { browserMs, bandwidthBytes, millicents: Math.round(millicents) };
}
