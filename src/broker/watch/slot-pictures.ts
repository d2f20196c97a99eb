/**
 * Pictures of one slot on their way to one reader. Exactly one is in flight; of those that come meanwhile, the latest
 * of each target waits. So a slow reader gets fewer pictures, and a suspended one costs no more memory with time.
 */
export class SlotPictures<Picture extends { target: string }> {
  readonly #send: (picture: Picture) => void;
  #inFlight: Promise<void> | null = null;
  #acknowledge: () => void = () => undefined;
  readonly #waiting = new Map<string, Picture>();
  /** Weak: it does not keep pictures of closed pages. */
  #offered = new WeakSet<Picture>();

  constructor(send: (picture: Picture) => void) {
    this.#send = send;
  }

  /**
   * Sends a picture, unless the reader has it already. Resolves when the picture in flight has been shown: this one, or
   * the one that it waits for.
   */
  async offer(picture: Picture): Promise<void> {
    const isNew = !this.#offered.has(picture);
    this.#offered.add(picture);
    if (this.#inFlight && isNew) this.#waiting.set(picture.target, picture);
    await (this.#inFlight || !isNew ? this.#inFlight : this.#start(picture));
  }

  #start(picture: Picture): Promise<void> {
    const shown = this.#wait();
    this.#send(picture);
    return shown;
  }

  /** The reader has shown the picture in flight. */
  onShown(): void {
    this.#inFlight = null;
    this.#acknowledge();
    const [next] = this.#waiting.values();
    if (!next) return;
    this.#waiting.delete(next.target);
    void this.#start(next);
  }

  /** Its page is closed. */
  drop(target: string): void {
    this.#waiting.delete(target);
  }

  /** Drops the waiting pictures. The one in flight stays until the reader has shown it. */
  stop(): void {
    this.#waiting.clear();
    this.#offered = new WeakSet();
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
