import type { Demand, PictureParams, WatcherPicture } from './calls.ts';
import type { PictureSize } from './view.ts';

/** A picture that the watcher has been sent and has not shown. */
interface InFlight {
  slot: number;
  shown: Promise<void>;
  onShown(): void;
}

/**
 * One connection that watches the run. Of each slot, one picture is in flight; of those that come meanwhile, the newest
 * of each open page waits. So a slow watcher gets fewer pictures, and a suspended one costs no more memory with time.
 */
export class Watcher {
  #demand: ReadonlyMap<number, PictureSize> = new Map();
  /** By number. */
  readonly #inFlight = new Map<number, InFlight>();
  /** By page, the oldest first. */
  readonly #waiting = new Map<string, PictureParams>();
  #untaken: WatcherPicture[] = [];
  #onPicture: () => void = () => undefined;
  #last = 0;
  #isGone = false;

  get demand(): ReadonlyMap<number, PictureSize> {
    return this.#demand;
  }

  wants(slots: Demand): void {
    this.#demand = new Map(slots.map(({ slot, size }) => [slot, size]));
    for (const [page, { slot }] of this.#waiting) if (!this.#demand.has(slot)) this.#waiting.delete(page);
  }

  /** Resolves when it has shown this picture, or the one of its slot that is in flight, or is gone. */
  async offer(picture: PictureParams): Promise<void> {
    if (this.#isGone) return;
    const { slot, target } = picture;
    const before = [...this.#inFlight.values()].find((each) => each.slot === slot);
    if (before) this.#waiting.set(keyOf(slot, target), picture);
    await (before?.shown ?? this.#send(picture));
  }

  pageClosed(slot: number, target: string): void {
    this.#waiting.delete(keyOf(slot, target));
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
    const shown = this.#inFlight.get(number);
    if (!shown) return;
    this.#inFlight.delete(number);
    shown.onShown();
    const next = [...this.#waiting.values()].find(({ slot }) => slot === shown.slot);
    if (!next) return;
    this.#waiting.delete(keyOf(next.slot, next.target));
    void this.#send(next);
  }

  gone(): void {
    this.#isGone = true;
    this.#demand = new Map();
    this.#untaken = [];
    this.#waiting.clear();
    this.#onPicture();
    for (const number of [...this.#inFlight.keys()]) this.shown(number);
  }

  #send(picture: PictureParams): Promise<void> {
    this.#last += 1;
    let onShown = (): void => undefined;
    const shown = new Promise<void>((resolve) => {
      onShown = resolve;
    });
    this.#inFlight.set(this.#last, { slot: picture.slot, shown, onShown });
    this.#untaken.push({ ...picture, number: this.#last });
    this.#onPicture();
    return shown;
  }
}

function keyOf(slot: number, target: string): string {
  return `${slot} ${target}`;
}
