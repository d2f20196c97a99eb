/** How many bytes a browser has moved, as far as its events tell: see {@link Metering}. */
export class Meter {
  #total = 0;

  /** Bytes so far. */
  total(): number {
    return this.#total;
  }

  /** @param bytes less than zero where more were counted before than there were */
  count(bytes: number): void {
    this.#total += bytes;
  }
}
