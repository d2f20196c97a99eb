import type { GiveBackParams, LeasedBrowser } from '../broker/rpc/protocol.ts';
import { withoutStack } from '../common/text/without-stack.ts';
import { LeaseError } from '../errors.ts';

/** What it takes to get a browser. */
export interface AcquireSteps<Link> {
  lease(): Promise<LeasedBrowser>;
  /** @throws LeaseError when it cannot be connected to */
  open(lease: LeasedBrowser): Promise<Link>;
  /** Never rejects. */
  giveBack(lease: LeasedBrowser, condition: GiveBackParams['condition'], unused?: boolean): Promise<void>;
}

/** One browser on its way to this worker: asked for, then connected to. */
export class Acquisition<Link> {
  /** Resolves with the connected browser, which is then the owner's to give back. */
  readonly link: Promise<Link>;
  #asking = false;
  #abandoned = false;
  #reject: (error: LeaseError) => void = () => undefined;

  readonly #steps: AcquireSteps<Link>;

  /** @param attempts a browser that cannot be connected to is given back and another one taken, this often */
  constructor(steps: AcquireSteps<Link>, attempts: number) {
    this.#steps = steps;

    this.link = new Promise((resolve, reject) => {
      this.#reject = reject;
      this.#run(attempts).then(resolve, reject);
    });
    this.link.catch(() => undefined); // one fetched ahead may fail before anybody waits for it
  }

  /** Whether it waits for the broker, so that it can be abandoned without waiting for anything. */
  get isAsking(): boolean {
    return this.#asking;
  }

  /**
   * Nobody needs it any more. While it waits for the broker, `link` rejects at once, and a browser that comes all the
   * same is given back; one that is being connected to still comes, or fails, within the bound on connecting.
   */
  abandon(): void {
    this.#abandoned = true;
    if (this.#asking) this.#reject(notNeeded());
  }

  async #run(attempts: number): Promise<Link> {
    for (let attempt = 1; ; attempt += 1) {
      const lease = await this.#ask();
      if (this.#abandoned) {
        await this.#steps.giveBack(lease, 'healthy', true);
        throw notNeeded();
      }
      try {
        return await this.#steps.open(lease);
      } catch (error) {
        await this.#steps.giveBack(lease, 'unreachable');
        if (this.#abandoned || attempt >= attempts || !(error instanceof LeaseError)) throw error;
      }
    }
  }

  async #ask(): Promise<LeasedBrowser> {
    this.#asking = true;
    try {
      return await this.#steps.lease();
    } finally {
      this.#asking = false;
    }
  }
}

/** A test that a run's end interrupts fails with it. */
function notNeeded(): LeaseError {
  return withoutStack(new LeaseError('ABORTED', 'The run or the test was over before its hosted browser had come.'));
}
