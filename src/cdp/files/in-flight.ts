/**
 * Starts tasks one after the other, with no more than `limit` of them unfinished: a far browser is kept busy, and no
 * file is in memory whole.
 */
export class InFlight {
  readonly #limit: number;
  #tasks: Promise<unknown>[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Starts a task as soon as there is room. @throws what an earlier task threw */
  async add(task: () => Promise<unknown>): Promise<void> {
    if (this.#tasks.length >= this.#limit) await this.#tasks.shift();
    const running = task();
    // Whoever waits for it sees its failure; until then it is nobody's.
    running.catch(() => undefined);
    this.#tasks.push(running);
  }

  /** Waits for all. @throws what the first of them threw */
  async done(): Promise<void> {
    await Promise.all(this.#tasks);
  }

  /** Waits for all, failed ones too. Never throws. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#tasks);
  }
}
