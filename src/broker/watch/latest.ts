/** A value with the number of its change. */
export interface Numbered<T> {
  number: number;
  value: T;
}

/** A value that others wait for: those who know an older one get the next one. */
export class Latest<T> {
  #value: T;
  #number = 1;
  #waiting = new Set<() => void>();

  constructor(value: T) {
    this.#value = value;
  }

  get value(): T {
    return this.#value;
  }

  /** Ignores an equal value. */
  set(value: T): void {
    if (JSON.stringify(value) === JSON.stringify(this.#value)) return;
    this.#value = value;
    this.#number += 1;
    for (const wake of this.#waiting) wake();
  }

  /**
   * Returns the value as soon as it has another number.
   * @param number of the known value; 0: none is known
   * @param signal ends the wait: rejects with its reason
   */
  async after(number: number, signal: AbortSignal): Promise<Numbered<T>> {
    while (number === this.#number) await this.#change(signal);
    signal.throwIfAborted();
    return { number: this.#number, value: this.#value };
  }

  #change(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const stop = () => {
        this.#waiting.delete(wake);
        signal.removeEventListener('abort', abort);
      };
      const wake = () => {
        stop();
        resolve();
      };
      const abort = () => {
        stop();
        reject(signal.reason);
      };
      signal.throwIfAborted();
      this.#waiting.add(wake);
      signal.addEventListener('abort', abort);
    });
  }
}
