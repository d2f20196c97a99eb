import type { Clock, Timer } from '../../common/clock.ts';

/** How often an idle worker asks the broker, in ms. */
const ASK_MS = 1_000;

/** Callbacks of {@link IdleWorker}. */
export interface IdleWorkerActions {
  /** Whether the worker has no browser, or contexts are open in it. */
  isInUse(): boolean;
  /** Asks the broker whether to give the browser up. @param idleMs time without a test or context, in ms */
  isWanted(idleMs: number): Promise<boolean>;
  giveUp(): void;
}

/**
 * Gives up the browser of a worker that runs no test, once other workers wait for one. Playwright keeps a worker when
 * it finishes its tests at the moment in which another worker is replaced; the new one may need this browser.
 */
export class IdleWorker {
  #timer: Timer | null = null;
  #since = 0;
  #isInTest = true;
  /** For how many other browsers the running test waits. */
  #waits = 0;

  readonly #actions: IdleWorkerActions;
  readonly #clock: Clock;

  constructor(actions: IdleWorkerActions, clock: Clock) {
    this.#actions = actions;
    this.#clock = clock;
  }

  /** A test is over, and maybe no other begins. */
  begin(): void {
    this.#isInTest = false;
    this.#start();
  }

  /** The browser is used outside of a test: if the worker is idle, it is so from now on. */
  restart(): void {
    if (this.#timer) this.#start();
  }

  /** A test begins, or the worker ends. */
  end(): void {
    this.#isInTest = true;
    this.#stop();
  }

  /** The running test waits for another browser: until the last of such waits settles, it may need this one's place. */
  whileWaiting(wait: Promise<unknown>): void {
    this.#waits += 1;
    this.#start();
    const over = () => {
      this.#waits -= 1;
      if (this.#waits === 0 && this.#isInTest) this.#stop();
    };
    wait.then(over, over);
  }

  #start(): void {
    this.#stop();
    this.#since = this.#clock.now();
    this.#askLater();
  }

  #stop(): void {
    this.#timer?.cancel();
    this.#timer = null;
  }

  #askLater(): void {
    this.#timer = this.#clock.after(ASK_MS, () => void this.#ask()).unref();
  }

  async #ask(): Promise<void> {
    const timer = this.#timer;
    const { isInUse, isWanted, giveUp } = this.#actions;
    if (isInUse()) return this.#start();
    const isNeeded = await isWanted(this.#clock.now() - this.#since).catch(() => false);
    // A test may have begun meanwhile.
    if (this.#timer !== timer) return;
    if (isNeeded && !isInUse()) giveUp();
    this.#askLater();
  }
}
