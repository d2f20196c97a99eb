import { LIMITS } from '../../service/limits.ts';
import type { CreatePoolRequest, Pool } from '../../service/schemas/index.ts';
import type { RunIdentity } from '../browsers/run-identity.ts';

/** How a broker knows a pool that it made again, when the answer to its create was lost. */

/** Unique, because a pool's name is and shards of one CI run share its ID; at most as long as a name may be. */
export function runPoolName({ suite, runId, mark }: RunIdentity, number: number): string {
  const end = `-${mark}-${number}`;
  return `${`poolwright-${suite}-${runId}`.slice(0, LIMITS.poolName.max - end.length)}${end}`;
}

/** The mark of the broker that made a pool for this run, by the name that it gave it; null where that does not tell. */
export function markInName(name: string, { suite, runId }: Pick<RunIdentity, 'suite' | 'runId'>): string | null {
  const start = `poolwright-${suite}-${runId}-`;
  return name.startsWith(start) ? (/^([^-]+)-\d+$/.exec(name.slice(start.length))?.[1] ?? null) : null;
}

/** A name that the user chose may be chosen by other runs, too: the template's note says whose pool it is. */
export function markedTemplate(browser: CreatePoolRequest['browser'], mark: string): CreatePoolRequest['browser'] {
  const own = noteOf(mark);
  const note = browser?.note ? `${browser.note.slice(0, LIMITS.note.max - own.length - 1)} ${own}` : own;
  return { ...browser, note };
}

/** Whether the broker with this mark made that pool, beyond doubt. */
export function isOfBroker({ name, browser }: Pool, mark: string): boolean {
  const note: unknown = browser?.note;
  return new RegExp(`-${mark}-\\d+$`).test(name) || (typeof note === 'string' && note.endsWith(noteOf(mark)));
}

function noteOf(mark: string): string {
  return `poolwright pool of ${mark}`;
}
