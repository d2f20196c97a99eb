import type { WatchPicture } from '../../broker/watch/view.ts';

/**
 * Pictures of one slot on their way to one page. Exactly one is in flight; of those that come meanwhile, the latest of
 * each target waits.
 */
export class SlotPictures {
  readonly #send: (picture: WatchPicture) => void;
  #inFlight: Promise<void> | null = null;
  #acknowledge: () => void = () => undefined;
  readonly #waiting = new Map<string, WatchPicture>();
  /** The latest one of each target. */
  readonly #offered = new Map<string, WatchPicture>();

  constructor(send: (picture: WatchPicture) => void) {
    this.#send = send;
  }

  /**
   * Sends a picture, unless the page has it already. Resolves when the picture in flight has been shown: this one, or
   * the one that it waits for.
   */
  async offer(picture: WatchPicture): Promise<void> {
    const isNew = this.#offered.get(picture.target) !== picture;
    this.#offered.set(picture.target, picture);
    if (this.#inFlight && isNew) this.#waiting.set(picture.target, picture);
    await (this.#inFlight || !isNew ? this.#inFlight : this.#start(picture));
  }

  #start(picture: WatchPicture): Promise<void> {
    const shown = this.#wait();
    this.#send(picture);
    return shown;
  }

  /** The page has shown the picture in flight. */
  onShown(): void {
    this.#inFlight = null;
    this.#acknowledge();
    const [next] = this.#waiting.values();
    if (!next) return;
    this.#waiting.delete(next.target);
    void this.#start(next);
  }

  /** Drops the waiting picture. The one in flight stays until the page has shown it. */
  stop(): void {
    this.#waiting.clear();
    this.#offered.clear();
    this.#acknowledge();
    if (this.#inFlight) this.#wait();
  }

  #wait(): Promise<void> {
    const shown = new Promise<void>((resolve) => {
      this.#acknowledge = resolve;
    });
    this.#inFlight = shown;
    return shown;
  }
}
