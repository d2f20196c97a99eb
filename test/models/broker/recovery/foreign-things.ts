import { sessionNote } from '../../../../src/broker/browsers/session-note.ts';

/** Foreign things, selected by a number. */

/** A file beside the ledgers that names a session; null: there is a directory. */
export function foreignLedger(
  kind: number,
  sessionId: string,
  ours: { baseURL: string; workspace: string },
): string | null {
  const entries = [{ request: 'x-1', poolId: null, leaseId: null, sessionId }];
  const rest = { place: null, socket: '', beatAt: new Date(0).toISOString(), pools: [], entries };
  const whole = { schema: 1, runId: 'x', mark: 'x', ...ours, ...rest };
  const texts = [
    null,
    '',
    '{"schema":1',
    JSON.stringify({ ...whole, schema: 2 }),
    JSON.stringify({ ...whole, beatAt: 'long ago' }),
    JSON.stringify({ ...whole, workspace: 'another' }),
    JSON.stringify({ ...whole, baseURL: 'https://elsewhere.test' }),
    JSON.stringify({ ...whole, entries: [{ sessionId }] }),
  ];
  return texts[kind % texts.length] ?? null;
}

/** The note of a foreign session. */
export function foreignNote(kind: number, suite: string): string | null {
  const theirs = { runId: 'theirs', shard: null, project: '', slot: 0, request: 'theirs-1', beat: new Date(0) };
  const notes = [
    null,
    'nightly',
    'somebody else poolwright run=1',
    sessionNote({ ...theirs, suite: 'ffffff' }, undefined),
    `${sessionNote({ ...theirs, suite }, undefined)} and more`,
  ];
  return notes[kind % notes.length] ?? null;
}
