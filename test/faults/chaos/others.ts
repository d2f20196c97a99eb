import type { ServiceClient } from 'poolwright/client';
import { sessionNote } from '../../../src/broker/browsers/session-note.ts';
import type { ChaosPlan } from './plan.ts';

/** Foreign sessions and pools in the same workspace. A run must not change them. */
export interface Others {
  /** Foreign sessions. */
  sessions: ReadonlySet<string>;
  /** Addresses of browsers among them that the run may use, as others do. */
  addresses: readonly string[];
  /** Names of pools that do not belong to a run. */
  pools: ReadonlySet<string>;
  /** Returns what has changed, one line each. */
  touched(): Promise<string[]>;
}

/** A run of another suite that has been silent for a day: dead, but foreign. */
const FOREIGN_NOTE = sessionNote(
  {
    runId: 'local-foreign',
    shard: null,
    project: 'theirs',
    slot: 0,
    request: 'theirs-1',
    suite: 'f0f0f0',
    beat: new Date(Date.now() - 86_400_000),
  },
  undefined,
);

/**
 * Creates foreign sessions, one of them of another suite's dead run, and a pool with a lease. `chaos` is the user's
 * pool that runs lease from. With real browsers, there are fewer sessions; a run on addresses has one for each worker.
 */
export async function placeOthers(
  client: ServiceClient,
  { browser, source, workers }: ChaosPlan,
  leaseTimeoutSeconds: number,
): Promise<Others> {
  const few = browser === 'chromium';
  const pools = [await client.createPool({ name: 'somebody-elses', size: 1 })];
  if (source.startsWith('pool')) pools.push(await client.createPool({ name: 'chaos', size: 2, leaseTimeoutSeconds }));
  const notes = new Map<string, string>();
  notes.set((await client.createSession({ note: FOREIGN_NOTE })).sessionId, FOREIGN_NOTE);
  if (!few) {
    notes.set((await client.createSession({})).sessionId, '');
    notes.set((await client.acquire(pools[0]?.id ?? '', { waitMs: 30_000 })).sessionId, '');
  }
  const addresses: string[] = [];
  for (let n = source === 'addresses' ? workers : 0; n > 0; n -= 1) {
    const { sessionId, cdpUrl } = await client.createSession({});
    notes.set(sessionId, '');
    addresses.push(cdpUrl ?? '');
  }
  const touched = async () => {
    const lines: string[] = [];
    for (const [sessionId, note] of notes) {
      const now = await client.getSession(sessionId);
      if (now.status !== 'active') lines.push(`somebody else's session ${sessionId} is ${now.status}`);
      if ((now.note ?? '') !== note) lines.push(`somebody else's session ${sessionId} has the note "${now.note}"`);
    }
    const there = new Set((await client.listPools()).map(({ id }) => id));
    for (const { id, name } of pools) if (!there.has(id)) lines.push(`pool ${name} is gone`);
    return lines;
  };
  return { sessions: new Set(notes.keys()), addresses, pools: new Set(pools.map(({ name }) => name)), touched };
}
