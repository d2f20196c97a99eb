import * as v from 'valibot';
import type { PageInput } from '../../common/page/page-input.ts';
import { type Ask, type Calls, type CallTable, callsOver, nothing } from '../rpc/call-table.ts';
import type { FinishedTest, RunView } from './view.ts';

/** The requests for watching a run, as the broker and its clients validate them. */

const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const slot = count;
const number = v.pipe(v.number(), v.safeInteger());
const time = v.pipe(v.number(), v.finite());
const isObject = (value: unknown) => typeof value === 'object' && value !== null;

const runningParams = v.object({
  /** All tests that this connection runs. */
  tests: v.array(
    v.object({
      slot,
      id: v.string(),
      title: v.string(),
      project: v.string(),
      step: v.nullable(v.string()),
      startedAt: time,
    }),
  ),
});

const pictureParams = v.object({
  slot,
  target: v.string(),
  url: v.string(),
  at: time,
  width: time,
  height: time,
  /** JPEG in base64. */
  data: v.string(),
  /** What all pictures of the connection have cost since the last one that was sent, this one included. */
  bytes: count,
});

const holdParams = v.object({ slot, reason: v.string(), until: time });

const slotParams = v.object({ slot });

const inputs = v.nullable(v.array(v.object({ target: v.string(), input: v.custom<PageInput>(isObject) })));

const runViewReply = v.object({
  number,
  view: v.custom<HubView>(isObject),
  /** The others. */
  finished: v.array(v.custom<FinishedTest>(isObject)),
});

const demandParams = v.object({
  slots: v.pipe(v.array(v.object({ slot, size: v.picklist(['large', 'small']) })), v.maxLength(10_000)),
});

const watcherPictures = v.array(v.object({ ...pictureParams.entries, number }));

/** The requests of workers and runners that are watched. Loaded when a watcher comes, or a test holds. */
export const WATCHED_CALLS = {
  /** Sets all tests that run on this connection. */
  running: { roles: ['worker', 'control'], params: runningParams, result: nothing },
  /** A picture of a page. Responds when a watcher has shown it. */
  picture: { roles: ['worker'], params: pictureParams, result: nothing },
  pageClosed: { roles: ['worker'], params: v.object({ slot, target: v.string() }), result: nothing },
  /** A test waits. Responds when a watcher has released the slot, or after `endHold`. One hold at a time. */
  hold: { roles: ['worker'], params: holdParams, result: nothing },
  endHold: { roles: ['worker'], params: v.object({}), result: nothing },
  /** Waits for input of watchers in the pages of a slot on hold; null when the hold is over. */
  inputs: { roles: ['worker'], params: slotParams, result: inputs },
} as const satisfies CallTable;

/** The requests of those who watch a run. */
export const WATCHER_CALLS = {
  /** The state of the run. Responds as soon as it is newer than `after` (0: none). */
  runView: {
    roles: ['observer'],
    params: v.object({
      after: number,
      /** How many of the tests that have ended the watcher knows. */
      known: count,
    }),
    result: runViewReply,
  },
  /** Sets for which slots pictures are wanted. */
  demand: { roles: ['observer'], params: demandParams, result: nothing },
  /** Pictures that this watcher has not received. Responds as soon as there is one. */
  pictures: { roles: ['observer'], params: v.object({}), result: watcherPictures },
  /** A picture is shown: its page's next one may come. */
  shown: { roles: ['observer'], params: v.object({ number }), result: nothing },
  /** Something done in a page of a hold. */
  input: {
    roles: ['observer'],
    params: v.object({ slot, target: v.string(), input: v.custom<PageInput>(isObject) }),
    result: nothing,
  },
  /** Ends a hold. */
  release: { roles: ['observer'], params: slotParams, result: nothing },
} as const satisfies CallTable;

/** These requests as calls. Each rejects when the connection is lost. */
export type WatchedCalls = Calls<typeof WATCHED_CALLS>;

/** Returns these calls over the connection of a worker or a runner. */
export function watchedCallsOver(ask: Ask): WatchedCalls {
  return callsOver(WATCHED_CALLS, ask);
}

/** The state of a run, without what its watcher knows: its name, and the tests that have ended. */
export interface HubView extends Omit<RunView, 'finished' | 'id'> {
  /** How many tests have ended, also skipped ones. */
  ended: number;
}

export type RunViewReply = v.InferOutput<typeof runViewReply>;
export type RunningTests = v.InferOutput<typeof runningParams>['tests'];
export type PictureParams = v.InferOutput<typeof pictureParams>;
export type HoldParams = v.InferOutput<typeof holdParams>;
export type SlotInput = NonNullable<v.InferOutput<typeof inputs>>[number];
export type WatcherPicture = v.InferOutput<typeof watcherPictures>[number];
export type Demand = v.InferOutput<typeof demandParams>['slots'];
