import { LIMITS } from '../service/limits.ts';

/** What a session's note says about the run it belongs to. */
export interface NoteFields {
  runId: string;
  shard: { current: number; total: number } | null;
  project: string;
  slot: number;
  /** Unique among all requests of all brokers: a create whose answer was lost is found again by it. */
  request: string;
}

/**
 * `poolwright run=… shard=… project=… slot=… req=…` behind the user's own note, at most 256 characters
 * (section 8 of the service document). Too long: the project's name gives way first, then the user's note.
 */
export function sessionNote(fields: NoteFields, userNote: string | undefined): string {
  const shard = fields.shard ? `${fields.shard.current}/${fields.shard.total}` : '1/1';
  const mark = (project: string) =>
    `poolwright run=${fields.runId} shard=${shard} project=${project} slot=${fields.slot} req=${fields.request}`;
  const front = userNote ? `${userNote} ` : '';
  const project = fields.project.replace(/\s+/g, '_') || 'default';

  const over = front.length + mark(project).length - LIMITS.note.max;
  const shortened = mark(over > 0 ? project.slice(0, Math.max(1, project.length - over)) : project);
  const room = LIMITS.note.max - shortened.length;
  return `${front.length > room ? `${front.slice(0, Math.max(0, room - 1)).trimEnd()} ` : front}${shortened}`.trimStart();
}
