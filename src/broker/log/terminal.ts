import { within } from '../../common/pause.ts';
import { notify } from '../../common/text/notify.ts';

/**
 * The output for the broker's messages to the user: standard error, or an observer of the run that shows them in order.
 */
export class Terminal {
  #watchers = 0;
  #lines: string[] = [];
  #onTaken: (() => void) | null = null;

  /** Whether an observer shows the run's state. */
  get isWatched(): boolean {
    return this.#watchers > 0;
  }

  /** @param text one line */
  write(text: string): void {
    if (this.isWatched) this.#lines.push(text);
    else notify(text);
  }

  /** Registers an observer, which takes the lines from now on; returns a function that unregisters it. */
  watch(): () => void {
    this.#watchers += 1;
    return () => {
      this.#watchers -= 1;
      if (!this.isWatched) this.#flush();
    };
  }

  /** Returns the lines since the last call. */
  take(): string[] {
    const lines = this.#lines;
    this.#lines = [];
    this.#onTaken?.();
    return lines;
  }

  /** Resolves when an observer has taken all lines, after `ms` at the latest. */
  async flushed(ms: number): Promise<void> {
    if (this.#lines.length === 0) return;
    const taken = new Promise<void>((resolve) => {
      this.#onTaken = resolve;
    });
    await within(taken, ms, undefined);
    this.#onTaken = null;
    this.#flush();
  }

  #flush(): void {
    for (const text of this.take()) notify(text);
  }
}
