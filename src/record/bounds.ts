/**
 * What the fields of a record may hold. Records come from elsewhere, too (an artifact of a fork, a merged shard): within
 * these bounds every figure can be computed, compared and printed.
 */

/** Longest text, in characters: no name or message is so long. */
export const MOST_CHARACTERS = 10_000;
/** Most of anything that is counted, in ms: 31 years. */
export const MOST_MS = 1e12;
export const MOST_COUNT = 1e9;
export const MOST_CENTS = 1e12;
export const MOST_SHARDS = 10_000;
/** Runs that one record is merged from. */
export const MOST_MERGED = 10_000;
/** What ISO 8601 writes with four digits of a year, in ms since the epoch. */
const FIRST_MOMENT = Date.parse('0000-01-01T00:00:00.000Z');
const LAST_MOMENT = Date.parse('9999-12-31T23:59:59.999Z');

/** Text as a record holds it. */
export function recordedText(given: string): string {
  return given.slice(0, MOST_CHARACTERS);
}

/** A time as a record holds it; one that cannot be is the epoch. */
export function recordedMoment(given: Date): string {
  const ms = given.getTime();
  return new Date(Number.isNaN(ms) ? 0 : Math.min(Math.max(ms, FIRST_MOMENT), LAST_MOMENT)).toISOString();
}

/** A time span in ms as a record holds it: a clock that was set back makes none. */
export function recordedMs(given: number): number {
  return Number.isNaN(given) ? 0 : Math.min(Math.max(given, 0), MOST_MS);
}
