import * as v from 'valibot';
import type { PageInput } from '../../common/page/page-input.ts';
import type { FinishedTest, RunView } from './view.ts';

/** Requests and responses for watching a run, as the broker and its clients validate them. */

const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const slot = count;
const number = v.pipe(v.number(), v.safeInteger());
const time = v.pipe(v.number(), v.finite());
const isObject = (value: unknown) => typeof value === 'object' && value !== null;

/** From a worker, or the runner (slot null). Responds with the watchers' orders, once they are newer than `after`. */
export const watchedParams = v.object({ slot: v.nullable(slot), after: number });

export const runningParams = v.object({
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

/** A picture of a page. The response comes when the watchers have shown it. */
export const pictureParams = v.object({
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

export const pageClosedParams = v.object({ slot, target: v.string() });

/** A test waits. The response comes when somebody releases it, or after `endHold`. */
export const holdParams = v.object({ slot, reason: v.string(), until: time });

export const slotParams = v.object({ slot });

/** A watcher's input in the pages of a slot on hold, once there is some; null when the hold is over. */
export const inputs = v.nullable(v.array(v.object({ target: v.string(), input: v.custom<PageInput>(isObject) })));

/** A watcher asks for the state of the run. The response comes when it is newer than `after`. */
export const runViewParams = v.object({
  after: number,
  /** How many of the tests that have ended the watcher knows. */
  known: count,
});
export const runViewReply = v.object({
  number,
  view: v.custom<HubView>(isObject),
  /** The others. */
  finished: v.array(v.custom<FinishedTest>(isObject)),
});

export const demandParams = v.object({
  slots: v.pipe(v.array(v.object({ slot, size: v.picklist(['large', 'small']) })), v.maxLength(10_000)),
});

/** Pictures that a watcher has not received. The response comes when there is one. */
export const watcherPictures = v.array(v.object({ ...pictureParams.entries, number }));

export const shownParams = v.object({ number });

export const inputParams = v.object({ slot, target: v.string(), input: v.custom<PageInput>(isObject) });

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
