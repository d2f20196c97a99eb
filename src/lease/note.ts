import { LIMITS } from '../service/limits.ts';

/** What a session's note says about the run it belongs to. */
export interface NoteFields {
  runId: string;
  shard: { current: number; total: number } | null;
  project: string;
  slot: number;
  /** Unique among all requests of all brokers: a create whose answer was lost is found again by it. */
  request: string;
  /** Which test suite: the same on every machine that runs it. */
  suite: string;
  /** When the run last said that it is alive, by the service's clock. */
  beat: Date;
}

/** What is read back from a note. `shard` and `project` as they stand there. */
export interface ParsedNote {
  runId: string;
  shard: string;
  project: string;
  slot: number;
  request: string;
  suite: string;
  /** To the minute. */
  beat: Date;
}

const MINUTE_MS = 60_000;

/**
 * `poolwright run=… shard=… project=… slot=… req=… suite=… beat=…` behind the user's own note, at most 256 characters
 * (section 8 of the service document). Too long: the project's name gives way first, then the user's note.
 */
export function sessionNote(fields: NoteFields, userNote: string | undefined): string {
  const { runId, slot, request, suite, beat } = fields;
  const shard = fields.shard ? `${fields.shard.current}/${fields.shard.total}` : '1/1';
  const minutes = Math.floor(beat.getTime() / MINUTE_MS).toString(36);
  const mark = (project: string) =>
    `poolwright run=${runId} shard=${shard} project=${project} slot=${slot} req=${request} suite=${suite} beat=${minutes}`;
  const front = userNote ? `${userNote} ` : '';
  const project = fields.project.replace(/\s+/g, '_') || 'default';

  const over = front.length + mark(project).length - LIMITS.note.max;
  const shortened = mark(over > 0 ? project.slice(0, Math.max(1, project.length - over)) : project);
  const room = LIMITS.note.max - shortened.length;
  return `${front.length > room ? `${front.slice(0, Math.max(0, room - 1)).trimEnd()} ` : front}${shortened}`.trimStart();
}

const MARK =
  /(?:^|\s)poolwright run=(\S+) shard=(\S+) project=(\S+) slot=(\d+) req=(\S+) suite=(\S+) beat=([0-9a-z]+)$/;

/** Reads a note of ours; null for every other one. */
export function parseNote(note: string | null | undefined): ParsedNote | null {
  const found = MARK.exec(note ?? '');
  if (!found) return null;
  const [, runId = '', shard = '', project = '', slot = '', request = '', suite = '', beat = ''] = found;
  return {
    runId,
    shard,
    project,
    slot: Number(slot),
    request,
    suite,
    beat: new Date(Number.parseInt(beat, 36) * MINUTE_MS),
  };
}
