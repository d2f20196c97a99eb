/**
 * Starts tasks one after the other and keeps at most `limit` of them unfinished: a distant browser stays busy, and no
 * file is completely in memory.
 */
export class InFlight {
  readonly #limit: number;
  #tasks: Promise<unknown>[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Starts a task as soon as there is room. @throws the error of an earlier task */
  async add(task: () => Promise<unknown>): Promise<void> {
    if (this.#tasks.length >= this.#limit) await this.#tasks.shift();
    const running = task();
    // The caller gets its failure later; until then it must not count as unhandled.
    running.catch(() => undefined);
    this.#tasks.push(running);
  }

  /** Waits for all tasks. @throws the error of the first that failed */
  async done(): Promise<void> {
    await Promise.all(this.#tasks);
  }

  /** Waits for all tasks, including failed ones. Never throws. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#tasks);
  }
}
