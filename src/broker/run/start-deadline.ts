import { PoolwrightError } from '../../errors.ts';
import type { RetryInfo } from '../../service/index.ts';

/** The one bound on a run's start, which every step of it keeps: whoever waits longer is told what for. */
export class StartDeadline {
  readonly #over = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #waitsFor = 'its broker';
  #refusal: RetryInfo | null = null;

  readonly #timeoutMs: number;

  /** @param timeoutMs from now on */
  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;

    this.#timer = setTimeout(() => this.#over.abort(this.#error()), timeoutMs);
  }

  /** The service wants to be asked again. */
  saw(refusal: RetryInfo): void {
    this.#refusal = refusal;
  }

  /**
   * One step of the start.
   * @param waitsFor what it waits for, as in "it was waiting for …"
   * @throws PoolwrightError `TIMEOUT` when the start's time is over
   */
  async step<T>(waitsFor: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { signal } = this.#over;
    signal.throwIfAborted();
    this.#waitsFor = waitsFor;
    this.#refusal = null;
    let leave: (() => void) | undefined;
    // Also for what takes no signal.
    const late = new Promise<never>((_, reject) => {
      leave = () => reject(signal.reason);
      signal.addEventListener('abort', leave);
    });
    try {
      return await Promise.race([work(signal), late]);
    } finally {
      if (leave) signal.removeEventListener('abort', leave);
    }
  }

  /** The run has started, or will not. */
  stop(): void {
    clearTimeout(this.#timer);
  }

  #error(): PoolwrightError {
    const refusal = this.#refusal;
    const timeoutMs = this.#timeoutMs;
    const waitsFor = this.#waitsFor;
    const last = refusal ? ` The last try failed: ${refusal.message}` : '';
    return new PoolwrightError(
      'TIMEOUT',
      `The run did not start within ${timeoutMs / 1000} s: it was waiting for ${waitsFor}.${last}`,
    );
  }
}
