import type { FinishedTest, RunView, WatchPicture } from '../broker/watch/view.ts';

/** The server's messages to its page. Times are the server's, in ms since the epoch. */

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

/** Longest text of one input, in UTF-16 code units. The page splits a longer one. */
export const MAX_TEXT = 10_000;
