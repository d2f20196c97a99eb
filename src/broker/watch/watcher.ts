import type { Demand, PictureParams, WatcherPicture } from './calls.ts';
import type { PictureSize } from './view.ts';

/** One connection that watches the run. */
export class Watcher {
  #demand: ReadonlyMap<number, PictureSize> = new Map();
  /** Pictures that it has not shown, by number. */
  readonly #open = new Map<number, () => void>();
  #untaken: WatcherPicture[] = [];
  #onPicture: () => void = () => undefined;
  #last = 0;
  #isGone = false;

  get demand(): ReadonlyMap<number, PictureSize> {
    return this.#demand;
  }

  /** Sets for which slots it wants pictures. */
  wants(slots: Demand): void {
    this.#demand = new Map(slots.map(({ slot, size }) => [slot, size]));
  }

  /** Resolves when it has shown the picture, or is gone. */
  offer(picture: PictureParams): Promise<void> {
    if (this.#isGone) return Promise.resolve();
    this.#last += 1;
    const number = this.#last;
    return new Promise((resolve) => {
      this.#open.set(number, resolve);
      this.#untaken.push({ ...picture, number });
      this.#onPicture();
    });
  }

  /** Returns the pictures that it has not received, as soon as there is one; none when it is gone. */
  async take(): Promise<WatcherPicture[]> {
    if (this.#untaken.length === 0 && !this.#isGone) {
      await new Promise<void>((resolve) => {
        this.#onPicture = resolve;
      });
    }
    return this.#untaken.splice(0);
  }

  shown(number: number): void {
    this.#open.get(number)?.();
    this.#open.delete(number);
  }

  gone(): void {
    this.#isGone = true;
    this.#demand = new Map();
    this.#untaken = [];
    this.#onPicture();
    for (const number of [...this.#open.keys()]) this.shown(number);
  }
}
