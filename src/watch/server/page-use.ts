import type { WatchedRuns } from '../../broker/watch/view.ts';
import { type Clock, systemClock } from '../../common/clock.ts';
import { pause } from '../../common/pause.ts';
import type { WatchServer } from './watch-server.ts';

const LOOK_MS = 500;
/** How long a page may take to open, in ms. */
const OPENS_WITHIN_MS = 60_000;
/** A page that is reloaded, or whose network stops for a moment, comes back within this time, in ms. */
const BACK_WITHIN_MS = 5_000;
/** How long the page of a run that is over is served, in ms. */
const AFTER_RUNS_MS = 3_600_000;

/** Resolves when all pages are closed, or when no run is left to show for an hour. */
export async function pagesClosed(
  server: Pick<WatchServer, 'pages'>,
  runs: Pick<WatchedRuns, 'all'>,
  clock: Clock = systemClock,
): Promise<void> {
  const never = new AbortController().signal;
  let wasOpen = false;
  let openAt = clock.now();
  let runAt = clock.now();
  for (;;) {
    const now = clock.now();
    if (server.pages > 0) [wasOpen, openAt] = [true, now];
    if (runs.all.some(({ view }) => view.endedAt === null)) runAt = now;
    if (now - openAt >= (wasOpen ? BACK_WITHIN_MS : OPENS_WITHIN_MS) || now - runAt >= AFTER_RUNS_MS) return;
    await pause(LOOK_MS, never, clock);
  }
}
