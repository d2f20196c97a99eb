import { expect, type Locator } from '@playwright/test';
import type { PictureSize, RunView, SlotView, WatchedRun, WatchPicture } from '../../../src/broker/watch/view.ts';
import type { Picture } from '../../../src/cdp/screencast/screencast.ts';
import { watchRuns } from '../../../src/watch/runs/watch-runs.ts';

/** Watches one run of this machine. */
export interface Watched {
  /** What is known of the run; undefined before it is found. */
  run(): WatchedRun | undefined;
  view(): RunView | undefined;
  /** The slot of its test. */
  slot(): SlotView | undefined;
  /** Asks for pictures of that slot. */
  demand(size: PictureSize): void;
  /** Of its pages, but for empty ones. */
  readonly pictures: WatchPicture[];
  /** The newest one, as a browser's screencast has it. */
  lastPicture(): Picture;
  close(): Promise<void>;
}

/** A test's title that no other run on this machine has: the watch page shows all of them. */
export function ownTitle(title: string): string {
  return `${title} (${process.pid})`;
}

/**
 * Waits until a tile of the watch page has a picture. Only tiles in view get pictures, and other tests' newer runs push
 * it out of view.
 */
export async function pictureOf(tile: Locator): Promise<void> {
  await expect(async () => {
    await tile.scrollIntoViewIfNeeded();
    await expect(tile.locator('canvas')).toBeVisible({ timeout: 2_000 });
  }).toPass({ timeout: 60_000 });
}

/** Watches the run that has a test of this title, see {@link ownTitle}. */
export function watchRun(test: string): Watched {
  const runs = watchRuns();
  const pictures: WatchPicture[] = [];
  let found: WatchedRun | undefined;
  const has = ({ view }: WatchedRun) =>
    view.slots.some((slot) => slot.test?.title.includes(test)) ||
    view.finished.some(({ title }) => title.includes(test));
  const run = () => {
    found ??= runs.all.find(has);
    return found;
  };
  const slot = () => run()?.view.slots.find((each) => each.test?.title.includes(test));
  runs.onPicture(async (of, picture) => {
    // The browser's first page is open, too.
    if (of === run() && picture.url !== 'about:blank') pictures.push(picture);
  });
  return {
    run,
    view: () => run()?.view,
    slot,
    demand: (size) => {
      const watched = slot();
      if (watched) run()?.demand(new Map([[watched.slot, size]]));
    },
    pictures,
    lastPicture: () => {
      const last = pictures.at(-1);
      if (!last) throw new Error('no picture has come');
      return { ...last, data: last.data.toString('base64') };
    },
    close: () => runs.close(),
  };
}
