import type { FinishedTest, PictureSize, RunView, WatchPicture } from '../broker/watch/view.ts';
import type { PageInput } from '../common/page/page-input.ts';

/** Messages between the server and its page. Times are the server's, in ms since the epoch. */

/** Changes since the last message to the same page. */
export interface ViewMessage {
  type: 'view';
  /** When it was sent: the page's clock may differ. */
  now: number;
  /** IDs of all runs, newest first. */
  order: string[];
  /** Runs that are new or changed. */
  changed: ChangedRun[];
}

export interface ChangedRun extends Omit<RunView, 'finished'> {
  /** Tests that are new or changed, newest first. */
  finished: FinishedTest[];
  /** IDs of tests that are no longer listed. */
  dropped: string[];
}

/** Precedes the JPEG of a binary message, as JSON; its length is the message's first four bytes, big-endian. */
export interface PictureHeader extends Omit<WatchPicture, 'data'> {
  /** To acknowledge it. */
  number: number;
  run: string;
}

/** A message of the page. */
export type PageMessage =
  /** The slots that its reader sees, which replace those of the last message. */
  | { type: 'demand'; slots: { run: string; slot: number; size: PictureSize }[] }
  /** The picture of this number has been drawn: the slot's next one may come. */
  | { type: 'shown'; number: number }
  | { type: 'input'; run: string; slot: number; target: string; input: PageInput }
  | { type: 'release'; run: string; slot: number };

/** Longest text of one input, in UTF-16 code units. The page splits a longer one. */
export const MAX_TEXT = 10_000;
