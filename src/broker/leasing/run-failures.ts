/** Why workers got no browser, each reason once: twenty workers without credit are one line. */
export class RunFailures {
  readonly #lines = new Set<string>();

  add(error: unknown): void {
    this.#lines.add(error instanceof Error ? error.message : String(error));
  }

  /** One line each, in the order they came. */
  get lines(): string[] {
    return [...this.#lines];
  }
}
