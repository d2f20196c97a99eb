/**
 * Limits for the fields of a record. A record may come from an untrusted source (an artifact of a fork, a merged
 * shard). Within these limits, all figures can be computed, compared and printed.
 */

/** Maximum length of a text, in characters. */
export const MAX_CHARACTERS = 10_000;
/** Maximum of a time span, in ms: 31 years. */
export const MAX_MS = 1e12;
export const MAX_COUNT = 1e9;
export const MAX_CENTS = 1e12;
export const MAX_SHARDS = 10_000;
export const MAX_WORKERS = 1_000;
/** Maximum number of runs merged into one record. */
export const MAX_MERGED = 10_000;
/** Maximum number of recorded holds of a test. */
export const MAX_HOLDS = 1_000;
/** Range of ISO 8601 with a four-digit year, in ms since the epoch. */
const MIN_TIME = Date.parse('0000-01-01T00:00:00.000Z');
const MAX_TIME = Date.parse('9999-12-31T23:59:59.999Z');

/** Limits a text to what a record may contain. */
export function recordedText(given: string): string {
  return given.slice(0, MAX_CHARACTERS);
}

/** Limits a time to what a record may contain. An invalid one becomes the epoch. */
export function recordedTime(given: Date): string {
  const ms = given.getTime();
  return new Date(Number.isNaN(ms) ? 0 : Math.min(Math.max(ms, MIN_TIME), MAX_TIME)).toISOString();
}

/** Limits a time span in ms to what a record may contain. A clock that was set back must not make it negative. */
export function recordedMs(given: number): number {
  return Number.isNaN(given) ? 0 : Math.min(Math.max(given, 0), MAX_MS);
}
