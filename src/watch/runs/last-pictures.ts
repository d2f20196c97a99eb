import type { FinishedTest, WatchPicture } from '../../broker/rpc/view.ts';

/** How many finished tests keep their last picture. Those of failed tests are kept longest. */
const MAX_TESTS = 300;
/** How many pages of a slot are remembered. */
const MAX_PAGES = 20;

/** The last pictures of the tests of one run. */
export class LastPictures {
  /** By slot and target, the latest last. */
  readonly #pages = new Map<number, Map<string, WatchPicture>>();
  readonly #tests = new Map<string, { ok: boolean; data: Buffer }>();

  /** A page has a new picture. */
  add(picture: WatchPicture): void {
    const { slot, target } = picture;
    const pages = this.#pages.get(slot) ?? new Map<string, WatchPicture>();
    this.#pages.set(slot, pages);
    pages.delete(target);
    pages.set(target, picture);
    for (const old of pages.keys()) {
      if (pages.size <= MAX_PAGES) break;
      pages.delete(old);
    }
  }

  /** Tests have ended: keeps the last picture of each. */
  ended(tests: readonly FinishedTest[]): void {
    for (const { id, ok, slot, startedAt, endedAt } of tests) {
      if (this.#tests.has(id)) continue;
      const during = [...(this.#pages.get(slot)?.values() ?? [])].filter(({ at }) => at >= startedAt && at <= endedAt);
      // The browser's first page is open, too.
      const last = during.findLast(({ url }) => url !== 'about:blank') ?? during.at(-1);
      if (last) this.#tests.set(id, { ok, data: last.data });
    }
    const byAge = [...this.#tests];
    for (const [id] of [...byAge.filter(([, { ok }]) => ok), ...byAge.filter(([, { ok }]) => !ok)]) {
      if (this.#tests.size <= MAX_TESTS) break;
      this.#tests.delete(id);
    }
  }

  has(test: string): boolean {
    return this.#tests.has(test);
  }

  /** As JPEG. @param test its ID */
  of(test: string): Buffer | null {
    return this.#tests.get(test)?.data ?? null;
  }
}
