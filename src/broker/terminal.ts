/** Where the broker's words for the user go: to standard error, or to who watches the run and shows them in good order. */
export class Terminal {
  private watchers = 0;
  private untold: string[] = [];

  /** Whether somebody shows what becomes of the run. */
  get isWatched(): boolean {
    return this.watchers > 0;
  }

  /** @param text one line */
  write(text: string): void {
    if (this.isWatched) this.untold.push(text);
    else process.stderr.write(`poolwright: ${text}\n`);
  }

  /** From now on somebody takes the lines; answers the function that ends that. */
  watch(): () => void {
    this.watchers += 1;
    return () => {
      this.watchers -= 1;
      if (!this.isWatched) for (const text of this.take()) this.write(text);
    };
  }

  /** What was said since the last time. */
  take(): string[] {
    const untold = this.untold;
    this.untold = [];
    return untold;
  }
}
