import { notify } from '../../common/text/notify.ts';

/** Where the broker's words for the user go: to standard error, or to who watches the run and shows them in good order. */
export class Terminal {
  #watchers = 0;
  #untold: string[] = [];
  #onTaken: (() => void) | null = null;

  /** Whether somebody shows what becomes of the run. */
  get isWatched(): boolean {
    return this.#watchers > 0;
  }

  /** @param text one line */
  write(text: string): void {
    if (this.isWatched) this.#untold.push(text);
    else notify(text);
  }

  /** From now on somebody takes the lines; returns the function that ends that. */
  watch(): () => void {
    this.#watchers += 1;
    return () => {
      this.#watchers -= 1;
      if (!this.isWatched) this.#flush();
    };
  }

  /** What was said since the last time. */
  take(): string[] {
    const untold = this.#untold;
    this.#untold = [];
    this.#onTaken?.();
    return untold;
  }

  /** Resolves when everything is told, after `ms` at the latest. */
  async told(ms: number): Promise<void> {
    if (this.#untold.length === 0) return;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#onTaken = resolve;
      timer = setTimeout(resolve, ms);
    });
    clearTimeout(timer);
    this.#onTaken = null;
    this.#flush();
  }

  #flush(): void {
    for (const text of this.take()) notify(text);
  }
}
