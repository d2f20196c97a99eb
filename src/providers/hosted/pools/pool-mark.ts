import { LIMITS } from '../../../service/limits.ts';
import type { CreatePoolRequest, Pool } from '../../../service/schemas/index.ts';
import type { PoolOwner } from '../../port.ts';

/** How a broker recognizes its own pool after the response to a create was lost. */

/**
 * The name is unique, because the service requires it and shards of one CI run share its ID. It fits the length limit.
 */
export function runPoolName({ suite, runId, mark }: PoolOwner, number: number): string {
  const end = `-${mark}-${number}`;
  return `${`poolwright-${suite}-${runId}`.slice(0, LIMITS.poolName.max - end.length)}${end}`;
}

/** Returns the mark of the broker that created a pool for this run, from the pool's name; null if the name has none. */
export function markInName(name: string, { suite, runId }: Omit<PoolOwner, 'mark'>): string | null {
  const start = `poolwright-${suite}-${runId}-`;
  return name.startsWith(start) ? (/^([^-]+)-\d+$/.exec(name.slice(start.length))?.[1] ?? null) : null;
}

/** Other runs may use the same user-defined name, so the note in the template identifies the pool's owner. */
export function markedTemplate(browser: CreatePoolRequest['browser'], mark: string): CreatePoolRequest['browser'] {
  const own = noteOf(mark);
  const note = browser?.note ? `${browser.note.slice(0, LIMITS.note.max - own.length - 1)} ${own}` : own;
  return { ...browser, note };
}

/** Whether the broker with this mark certainly created that pool. */
export function isOfBroker({ name, browser }: Pool, mark: string): boolean {
  const note: unknown = browser?.note;
  return new RegExp(`-${mark}-\\d+$`).test(name) || (typeof note === 'string' && note.endsWith(noteOf(mark)));
}

function noteOf(mark: string): string {
  return `poolwright pool of ${mark}`;
}
