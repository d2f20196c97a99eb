import type { Picture, PictureReceiver } from '../../cdp/screencast/screencast.ts';
import { dateNow, setTimeout } from '../../common/clock.ts';
import type { FeatureSetting } from '../feature.ts';

/** The end of one page's life. */
export interface PageFilm {
  /**
   * Oldest first; none of a page that closed too soon. The first one may be older than {@link from}: the page still
   * looked like that.
   */
  pictures: readonly Picture[];
  /** Its documents, oldest first, also those that no picture shows. */
  visits: readonly Visit[];
  /** ms since the epoch. */
  from: number;
  until: number;
}

/** A document of a page, and when it came, in ms since the epoch. */
export type Visit = Pick<Picture, 'at' | 'url'>;

/** How much of each page is kept, in ms. */
export const FILM_MS = 20_000;
/** The most that the page of a film may have, in bytes. */
export const FILM_BYTES = 3_000_000;
/** The most bytes kept of all pages: a test may open many. */
const KEPT_BYTES = 4 * FILM_BYTES;
/** The most pages, and documents of one page, that are kept. */
const KEPT = { pages: 200, visits: 200 };
/** The longest address that is kept, in characters: `data:` addresses have no limit. */
const MAX_URL = 10_000;
/** Pictures per second: as many as fit for the whole time, within these limits. */
const PER_SECOND = { least: 2, most: 5 };

/** How long a page that has just changed takes to be in the film, in ms: the longest pause, and the picture itself. */
const LAST_MS = 700;

interface Reel {
  pictures: Picture[];
  visits: Visit[];
  /** ms since the epoch; undefined while the page is open. */
  endedAt: number | undefined;
}

/** Keeps the last seconds of each page of a connection as pictures. */
export class Film implements PictureReceiver {
  readonly options = { maxWidth: 800, maxHeight: 800, quality: 50, perSecond: PER_SECOND.most };
  readonly #keepsPassed: boolean;
  /** By target, oldest first. */
  readonly #reels = new Map<string, Reel>();
  #bytes = 0;

  constructor(option: FeatureSetting) {
    this.#keepsPassed = option === 'on';
  }

  async onPicture(picture: Picture): Promise<void> {
    const reel = this.#reelOf(picture.target);
    reel.pictures.push(picture);
    this.#bytes += picture.data.length;
    this.#trim(reel, picture.at - FILM_MS);
    for (const [target, old] of this.#reels) {
      if (this.#bytes <= KEPT_BYTES) break;
      this.#drop(old, old === reel ? old.pictures.length - 1 : old.pictures.length);
      if (old.pictures.length === 0) this.#reels.delete(target);
    }
    const perSecond = Math.max(PER_SECOND.least, FILM_BYTES / (FILM_MS / 1000) / picture.data.length);
    const pause = 1000 / perSecond - 1000 / PER_SECOND.most;
    if (pause > 0) await new Promise((resolve) => setTimeout(resolve, pause).unref());
  }

  onAddress(target: string, url: string): void {
    const { visits } = this.#reelOf(target);
    // Each page begins like this.
    if (visits.length === 0 && url === 'about:blank') return;
    const kept = url.slice(0, MAX_URL);
    if (visits.at(-1)?.url !== kept) visits.push({ at: dateNow(), url: kept });
    if (visits.length > KEPT.visits) visits.shift();
  }

  onPageEnd(target: string): void {
    const reel = this.#reels.get(target);
    if (reel) reel.endedAt = dateNow();
  }

  /** Waits until the film has the present look of open pages. Call it before they close. */
  static async last(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, LAST_MS));
  }

  /** The pages that a test has used, if it gets a film. @param from when it began, in ms since the epoch */
  of({ from, ok }: { from: number; ok: boolean }): PageFilm[] {
    if (ok && !this.#keepsPassed) return [];
    const now = dateNow();
    return [...this.#reels.values()].flatMap((reel) => {
      const { pictures, visits, endedAt = now } = reel;
      // A page that an earlier test has left behind may end a little later.
      if (reel.endedAt !== undefined && ![...pictures, ...visits].some(({ at }) => at >= from)) return [];
      const begin = Math.max(from, endedAt - FILM_MS);
      const first = pictures.findLastIndex(({ at }) => at <= begin);
      const shown = { pictures: pictures.slice(Math.max(0, first)), visits: visits.filter(({ at }) => at >= begin) };
      return shown.pictures.length + shown.visits.length > 0 ? [{ ...shown, from: begin, until: endedAt }] : [];
    });
  }

  #reelOf(target: string): Reel {
    const known = this.#reels.get(target);
    if (known) return known;
    const reel: Reel = { pictures: [], visits: [], endedAt: undefined };
    this.#reels.set(target, reel);
    const [oldest] = this.#reels;
    if (oldest && this.#reels.size > KEPT.pages) {
      this.#drop(oldest[1], oldest[1].pictures.length);
      this.#reels.delete(oldest[0]);
    }
    return reel;
  }

  /** Drops what is older, except for the last picture: the page looked like that at this time. */
  #trim(reel: Reel, before: number): void {
    this.#drop(
      reel,
      Math.max(
        0,
        reel.pictures.findLastIndex(({ at }) => at <= before),
      ),
    );
  }

  #drop({ pictures }: Reel, count: number): void {
    for (const { data } of pictures.splice(0, count)) this.#bytes -= data.length;
  }
}
