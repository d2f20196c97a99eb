import { type Fetch, SurplusFetch } from '../../browsers/fetch.ts';
import type { HeldBrowser } from '../../browsers/held-browser.ts';

/** The browsers of one plan that are on their way, the oldest first. */
export class Fetches {
  readonly #all = new Set<Fetch>();

  get size(): number {
    return this.#all.size;
  }

  /** The one that comes next, it seems; undefined: none is on its way. */
  get oldest(): Fetch | undefined {
    return this.#all.values().next().value;
  }

  /** Whether the service has nothing for one of them at the moment. */
  get starve(): boolean {
    return [...this.#all].some(({ parked }) => parked);
  }

  /**
   * @param start begins one; `place` says how many are older
   * @param came called with the browser
   * @param failed called with the error, unless it was given up
   */
  add(
    start: (place: () => number) => Fetch,
    came: (held: HeldBrowser) => void,
    failed: (error: unknown) => void,
  ): void {
    const fetch = start(() => [...this.#all].indexOf(fetch));
    this.#all.add(fetch);
    fetch.browser.then(
      (held) => {
        this.#all.delete(fetch);
        came(held);
      },
      (error: unknown) => {
        this.#all.delete(fetch);
        if (!(error instanceof SurplusFetch)) failed(error);
      },
    );
  }

  /** Gives up what is more than so many, as far as it is not at the service already. */
  keepMost(most: number): void {
    let surplus = this.#all.size - most;
    for (const fetch of [...this.#all].reverse()) {
      if (surplus <= 0) return;
      if (!fetch.parked) continue;
      this.#all.delete(fetch);
      fetch.giveUp();
      surplus -= 1;
    }
  }
}
