import type { Runner } from '../../record/enums.ts';

/** Formats figures for people. */

/** `1.5 s`, `2 min 5 s`, `1 h 3 min`. */
export function duration(ms: number): string {
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return seconds % 60 === 0 ? `${minutes} min` : `${minutes} min ${seconds % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** `1.5 kB`, `2.0 MB`. Decimal, like the service's figures. */
export function bytes(count: number): string {
  if (count < 1_000) return `${Math.round(count)} B`;
  if (count < 1_000_000) return `${(count / 1_000).toFixed(1)} kB`;
  if (count < 1_000_000_000) return `${(count / 1_000_000).toFixed(1)} MB`;
  return `${(count / 1_000_000_000).toFixed(2)} GB`;
}

/** The word for the tests of a record: `poolwright exec` records connections of tools. */
export function testWord(runner: Runner | null): string {
  return runner === 'exec' ? 'connection' : 'test';
}

/** `1 test`, `2 tests`. */
export function many(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}
