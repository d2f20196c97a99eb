/** Callers that wait, first come, first served; each may give up. */
export class WaitingLine {
  private readonly waiters: (() => void)[] = [];

  get length(): number {
    return this.waiters.length;
  }

  /** Resolves when {@link next} lets this caller go; leaves the line and rejects with the signal's reason when that fires. */
  async join(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      const leave = () => {
        const at = this.waiters.indexOf(go);
        if (at >= 0) this.waiters.splice(at, 1);
        signal.removeEventListener('abort', giveUp);
      };
      const giveUp = () => {
        leave();
        reject(signal.reason);
      };
      const go = () => {
        leave();
        resolve();
      };
      this.waiters.push(go);
      signal.addEventListener('abort', giveUp);
    });
  }

  /** Lets the one go who waits longest. */
  next(): void {
    this.waiters[0]?.();
  }
}
