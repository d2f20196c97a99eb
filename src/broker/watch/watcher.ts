import type { Demand, PictureParams, WatcherPicture } from './calls.ts';
import { SlotPictures } from './slot-pictures.ts';
import type { PictureSize } from './view.ts';

/** One connection that watches the run. Of each slot, one picture is in flight. */
export class Watcher {
  #demand: ReadonlyMap<number, PictureSize> = new Map();
  readonly #slots = new Map<number, SlotPictures<PictureParams>>();
  /** By number, the slot of each picture that was sent and is not shown yet. */
  readonly #inFlight = new Map<number, SlotPictures<PictureParams>>();
  #untaken: WatcherPicture[] = [];
  #onPicture: () => void = () => undefined;
  #last = 0;
  #isGone = false;

  get demand(): ReadonlyMap<number, PictureSize> {
    return this.#demand;
  }

  wants(slots: Demand): void {
    this.#demand = new Map(slots.map(({ slot, size }) => [slot, size]));
    for (const [slot, pictures] of this.#slots) if (!this.#demand.has(slot)) pictures.stop();
  }

  /** Resolves when it has shown this picture, or the one of its slot that is in flight, or is gone. */
  async offer(picture: PictureParams): Promise<void> {
    if (this.#isGone) return;
    const { slot } = picture;
    const pictures = this.#slots.get(slot) ?? new SlotPictures<PictureParams>((each) => this.#send(each));
    this.#slots.set(slot, pictures);
    await pictures.offer(picture);
  }

  pageClosed(slot: number, target: string): void {
    this.#slots.get(slot)?.drop(target);
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
    const pictures = this.#inFlight.get(number);
    this.#inFlight.delete(number);
    pictures?.onShown();
  }

  gone(): void {
    this.#isGone = true;
    this.#demand = new Map();
    this.#untaken = [];
    this.#onPicture();
    for (const pictures of this.#slots.values()) pictures.stop();
  }

  #send(picture: PictureParams): void {
    const pictures = this.#slots.get(picture.slot);
    if (!pictures) return;
    this.#last += 1;
    this.#inFlight.set(this.#last, pictures);
    this.#untaken.push({ ...picture, number: this.#last });
    this.#onPicture();
  }
}
