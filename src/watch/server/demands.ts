import type { PictureSize, WatchedRun, WatchedRuns, WatchPicture } from '../../broker/watch/view.ts';
import type { PageConnection } from './page-connection.ts';

/** How many pages of a slot are remembered. */
const MAX_PAGES = 20;

/** The demand of all pages together, and the pictures that come of it. */
export class Demands {
  readonly #runs: WatchedRuns;
  readonly #pages: ReadonlySet<PageConnection>;
  /** The last demand that was sent to each run. */
  readonly #asked = new WeakMap<WatchedRun, string>();
  /** The latest picture of each target in demand, for pages that join: a page that does not change sends no other. */
  readonly #latest = new Map<string, Map<string, WatchPicture>>();

  constructor(runs: WatchedRuns, pages: ReadonlySet<PageConnection>) {
    this.#runs = runs;
    this.#pages = pages;
  }

  /** Asks each run for what the pages want now. */
  update(): void {
    const wanted = new Set<string>();
    for (const run of this.#runs.all) {
      const slots = this.#slotsOf(run);
      for (const slot of slots.keys()) wanted.add(keyOf(run, slot));
      const key = JSON.stringify([...slots]);
      if (key === (this.#asked.get(run) ?? '[]')) continue;
      this.#asked.set(run, key);
      run.demand(slots);
    }
    for (const key of this.#latest.keys()) if (!wanted.has(key)) this.#latest.delete(key);
  }

  /** Sends a page what it would have been sent, had it been there before. */
  catchUp(page: PageConnection): void {
    for (const run of this.#runs.all) {
      for (const { slot, pages } of run.view.slots) {
        const latest = this.#latest.get(keyOf(run, slot));
        if (!latest) continue;
        const open = new Set(pages.map(({ target }) => target));
        for (const [target, picture] of latest) {
          if (open.has(target)) void page.offer(run, picture);
          else latest.delete(target);
        }
      }
    }
  }

  /**
   * Sends a picture to the pages that want it. Resolves when one of them has shown it: others get fewer pictures, as
   * each has at most one of a slot in flight.
   */
  async send(run: WatchedRun, picture: WatchPicture): Promise<void> {
    const offers = [...this.#pages].flatMap((page) => page.offer(run, picture) ?? []);
    if (offers.length === 0) return;
    const key = keyOf(run, picture.slot);
    const latest = this.#latest.get(key) ?? new Map<string, WatchPicture>();
    this.#latest.set(key, latest);
    latest.delete(picture.target);
    latest.set(picture.target, picture);
    // Each test opens another page: without a bound, closed ones would add up.
    const [oldest = ''] = latest.keys();
    if (latest.size > MAX_PAGES) latest.delete(oldest);
    await Promise.race(offers);
  }

  /** By slot, the larger of the sizes that pages want. */
  #slotsOf({ view }: WatchedRun): Map<number, PictureSize> {
    const slots = new Map<number, PictureSize>();
    for (const { slot } of view.slots) {
      for (const page of this.#pages) {
        const size = page.demandFor(view.id, slot);
        if (size !== undefined && slots.get(slot) !== 'large') slots.set(slot, size);
      }
    }
    return slots;
  }
}

function keyOf({ view }: WatchedRun, slot: number): string {
  return `${slot} ${view.id}`;
}
