import type { LeasePlan } from '../../options/schema/plan.ts';
import { MOST_LABEL, type PoolOwner } from '../../providers/port.ts';
import type { WorkerSlot } from './held-browser.ts';

/** The content of a session's note: the run that it belongs to. */
export interface NoteFields {
  runId: string;
  shard: { current: number; total: number } | null;
  project: string;
  slot: number;
  /** Unique among all requests of all brokers: identifies a create whose response was lost. */
  request: string;
  /** The test suite: the same on every machine that runs it. */
  suite: string;
  /** The run's last sign of life, by the service's clock. */
  beat: Date;
}

/** The run whose browsers the broker holds. `suite` is in notes. */
export interface RunIdentity extends PoolOwner, Pick<NoteFields, 'shard'> {
  /**
   * The service's clock, in ms since the epoch: the reader of a beat may have a different clock. Default: this
   * machine's.
   */
  now?: () => number;
}

/** The fields of a parsed note: `shard` and `project` as written there, `beat` to the minute. */
export interface ParsedNote extends Omit<NoteFields, 'shard'> {
  shard: string;
}

const MINUTE_MS = 60_000;

export function noteFor(run: RunIdentity, slot: WorkerSlot, request: string, plan: LeasePlan): string {
  const { runId, shard, suite, now = Date.now } = run;
  const beat = new Date(now());
  const fields = { runId, shard, suite, project: slot.project, slot: slot.index, request, beat };
  return sessionNote(fields, plan.session.note);
}

/**
 * Returns `poolwright run=… shard=… project=… slot=… req=… suite=… beat=…` after the user's own note, at most 256
 * characters (section 8 of the service document). If it is too long, the project's name is shortened first, then the
 * user's note.
 */
export function sessionNote(fields: NoteFields, userNote: string | undefined): string {
  const { runId, slot, request, suite, beat } = fields;
  const shard = fields.shard ? `${fields.shard.current}/${fields.shard.total}` : '1/1';
  const minutes = Math.floor(beat.getTime() / MINUTE_MS).toString(36);
  const mark = (project: string) =>
    `poolwright run=${runId} shard=${shard} project=${project} slot=${slot} req=${request} suite=${suite} beat=${minutes}`;
  const front = userNote ? `${userNote} ` : '';
  const project = fields.project.replace(/\s+/g, '_') || 'default';

  const over = front.length + mark(project).length - MOST_LABEL;
  const shortened = mark(over > 0 ? project.slice(0, Math.max(1, project.length - over)) : project);
  const room = MOST_LABEL - shortened.length;
  return `${front.length > room ? `${front.slice(0, Math.max(0, room - 1)).trimEnd()} ` : front}${shortened}`.trimStart();
}

const MARK =
  /(?:^|\s)poolwright run=(\S+) shard=(\S+) project=(\S+) slot=(\d+) req=(\S+) suite=(\S+) beat=([0-9a-z]+)$/;

/** Parses a note of poolwright; null for every other note. */
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
