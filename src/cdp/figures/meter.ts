/** Counts the bytes that a browser transfers, as far as its events report them: see {@link Metering}. */
export class Meter {
  #total = 0;

  /** Bytes so far. */
  total(): number {
    return this.#total;
  }

  /** @param bytes negative to correct an earlier count that was too high */
  count(bytes: number): void {
    this.#total += bytes;
  }
}
