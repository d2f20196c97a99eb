import type { GiveBackParams, LeasedBrowser } from '../../broker/rpc/messages/protocol.ts';
import { withoutStack } from '../../common/error-message.ts';
import { LeaseError } from '../../errors.ts';

/** The steps to get a browser. */
export interface AcquireSteps<Connection> {
  lease(): Promise<LeasedBrowser>;
  /** @throws LeaseError when connecting fails */
  open(lease: LeasedBrowser): Promise<Connection>;
  /** Never rejects. */
  giveBack(lease: LeasedBrowser, condition: GiveBackParams['condition'], unused?: boolean): Promise<void>;
}

/** Gets one browser for this worker: requests it, then connects to it. */
export class Acquisition<Connection> {
  /** Resolves with the connected browser. The owner then has to give it back. */
  readonly connection: Promise<Connection>;
  #pending = false;
  #abandoned = false;
  #reject: (error: LeaseError) => void = () => undefined;

  readonly #steps: AcquireSteps<Connection>;

  /** @param attempts how often a browser is requested: one that cannot be connected to is given back and replaced */
  constructor(steps: AcquireSteps<Connection>, attempts: number) {
    this.#steps = steps;

    this.connection = new Promise((resolve, reject) => {
      this.#reject = reject;
      this.#run(attempts).then(resolve, reject);
    });
    this.connection.catch(() => undefined); // a prefetch may fail before anything awaits it
  }

  /** Whether the request is still with the broker. Abandoning it then needs no waiting. */
  get isPending(): boolean {
    return this.#pending;
  }

  /**
   * The browser is no longer needed. While the request is with the broker, `connection` rejects at once, and a browser
   * that arrives later is given back. If connecting has begun, it still succeeds or fails within its time limit.
   */
  abandon(): void {
    this.#abandoned = true;
    if (this.#pending) this.#reject(notNeeded());
  }

  async #run(attempts: number): Promise<Connection> {
    for (let attempt = 1; ; attempt += 1) {
      const lease = await this.#lease();
      if (this.#abandoned) {
        await this.#steps.giveBack(lease, 'healthy', true);
        throw notNeeded();
      }
      try {
        return await this.#steps.open(lease);
      } catch (error) {
        // Another error is about this machine: the browser was not tried.
        const isTheBrowsers = error instanceof LeaseError;
        await this.#steps.giveBack(lease, isTheBrowsers ? 'unreachable' : 'healthy', !isTheBrowsers);
        if (this.#abandoned || attempt >= attempts || !isTheBrowsers) throw error;
      }
    }
  }

  async #lease(): Promise<LeasedBrowser> {
    this.#pending = true;
    try {
      return await this.#steps.lease();
    } finally {
      this.#pending = false;
    }
  }
}

/** Without a stack: tests that the end of the run interrupts fail with it. */
function notNeeded(): LeaseError {
  return withoutStack(new LeaseError('ABORTED', 'The run or the test ended before its hosted browser was ready.'));
}
