import pTimeout from 'p-timeout';
import { PoolwrightError } from '../../errors.ts';
import type { Refusal } from '../../providers/port.ts';

/** The single deadline for a run's start, across all its steps. Its error names the step that was pending. */
export class StartDeadline {
  readonly #over = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #waitsFor = 'its broker';
  #refusal: Refusal | null = null;
  readonly #timeoutMs: number;

  /** @param timeoutMs from now on */
  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
    this.#timer = setTimeout(() => this.#over.abort(this.#error()), timeoutMs);
  }

  /** Records that a request to the service failed and will be retried. */
  saw(refusal: Refusal): void {
    this.#refusal = refusal;
  }

  /**
   * Runs one step of the start.
   * @param waitsFor what it waits for, as in "it was waiting for …"
   * @throws PoolwrightError `TIMEOUT` when the start's time is over
   */
  async step<T>(waitsFor: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { signal } = this.#over;
    signal.throwIfAborted();
    this.#waitsFor = waitsFor;
    this.#refusal = null;
    // The signal is given twice, because some work does not take one.
    return await pTimeout(work(signal), { milliseconds: Number.POSITIVE_INFINITY, signal });
  }

  /** The run has started, or has failed to start. */
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
