import type { PageInput } from '../../common/page/page-input.ts';
import type { SlotState } from '../feature.ts';

/** What the watch page shows, and what its reader does there. Times are in ms since the epoch, sizes in bytes. */

/** A run of a test suite. */
export interface RunView {
  /** Unique among the runs that a watch server shows. */
  id: string;
  /** Of the package that the suite belongs to. */
  name: string;
  /** The test runner; null: a script. */
  runner: string | null;
  startedAt: number;
  /** Null while it runs. */
  endedAt: number | null;
  /** By number. */
  slots: SlotView[];
  /** The tests that have ended, newest first. At most {@link MAX_FINISHED}: failed ones are kept longest. */
  finished: FinishedTest[];
  /** How many tests have ended. Skipped ones are in neither. */
  passed: number;
  failed: number;
  /** Bytes of all pictures so far. */
  pictureBytes: number;
}

const MAX_FINISHED = 1_000;

/** A worker slot: its worker and the browser of that worker. */
export interface SlotView extends SlotState {
  /** Null between tests. */
  test: RunningTest | null;
  /** Open pages, among them the browser's first one, which is often empty. Known only while somebody watches. */
  pages: PageView[];
  hold: HoldView | null;
}

export interface RunningTest {
  /** Unique within the run, also for each retry. */
  id: string;
  /** Names of its groups and its own. */
  title: string;
  project: string;
  /** Title of the innermost step; null: none, or the runner reports no steps. */
  step: string | null;
  startedAt: number;
}

export interface PageView {
  /** ID of its target. */
  target: string;
  /** Without secrets of the run. */
  url: string;
}

/** A test that waits until somebody releases it. */
export interface HoldView {
  reason: string;
  /** When it goes on by itself. */
  until: number;
}

export interface FinishedTest extends Pick<RunningTest, 'id' | 'project' | 'startedAt' | 'title'> {
  slot: number;
  /** As in `run.json`. */
  status: string;
  ok: boolean;
  retry: number;
  endedAt: number;
  /** ID of its session; null: it used none. */
  sessionId: string | null;
  /** Whether its last picture is known. */
  hasPicture: boolean;
}

/** The tests that are listed: newest first, at most {@link MAX_FINISHED}. Failed ones are kept longest. */
export function listed(tests: Iterable<FinishedTest>): FinishedTest[] {
  const newestFirst = [...tests].sort((a, b) => b.endedAt - a.endedAt);
  if (newestFirst.length <= MAX_FINISHED) return newestFirst;
  const failed = newestFirst.filter(({ ok }) => !ok);
  const kept = new Set([...failed, ...newestFirst.filter(({ ok }) => ok)].slice(0, MAX_FINISHED));
  return newestFirst.filter((test) => kept.has(test));
}

/** How large a slot's pictures are, and how many per second: 2 or up to 15. */
export type PictureSize = 'large' | 'small';

/** A picture of a page. */
export interface WatchPicture {
  slot: number;
  target: string;
  url: string;
  at: number;
  /** Size of the page's visible part in CSS pixels. */
  width: number;
  height: number;
  /** JPEG. */
  data: Buffer;
}

/** A run as a watch server uses it. */
export interface WatchedRun {
  /** The present state. A new object after each change. */
  readonly view: RunView;
  /** The last picture of a test that has ended, as JPEG. @param test its ID */
  lastPicture(test: string): Buffer | null;
  /** Which slots somebody watches. Slots that are missing send no pictures. */
  demand(slots: ReadonlyMap<number, PictureSize>): void;
  /** Ignored unless the slot is on hold. */
  input(slot: number, target: string, input: PageInput): void;
  /** Ends a hold. */
  release(slot: number): void;
}

/** The runs of this user on this machine. */
export interface WatchedRuns {
  readonly all: readonly WatchedRun[];
  /** Calls back after each change of {@link all} or of a run's view. Returns a function that ends it. */
  onChange(listener: () => void): () => void;
  /**
   * Calls back with each picture. The slot's next picture comes when the promises of all listeners have resolved: a
   * reader who is slow gets fewer pictures, and never a queue.
   */
  onPicture(listener: (run: WatchedRun, picture: WatchPicture) => Promise<void>): () => void;
  close(): Promise<void>;
}
