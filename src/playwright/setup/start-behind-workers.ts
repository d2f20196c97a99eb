import type { StartedBroker } from '../../broker/process/start.ts';

/**
 * A run that begins before its broker can lend: Playwright starts its workers meanwhile, and they wait. Where the broker may
 * not lend (a wrong key, no pool), the run is ended as Ctrl-C ends it, which is the one way that Playwright has. No test has a
 * browser then; the teardown throws what the broker found, and the run counts as failed.
 */
export class StartBehindWorkers {
  /** Whether the user ended the run before the broker could lend: there is nothing to give back. */
  isAbandoned = false;
  #isRefused = false;
  #isOver = false;

  readonly #broker: StartedBroker;

  constructor(broker: StartedBroker) {
    this.#broker = broker;
    process.once('SIGINT', this.#interrupted);
    const settled = () => process.off('SIGINT', this.#interrupted);
    broker.ready.then(settled, () => {
      settled();
      this.#isRefused = true;
    });
  }

  /** The global setup is over. @throws what the broker has found so far */
  async runBegins(): Promise<void> {
    if (this.#isRefused) await this.#broker.started();
    this.#broker.ready.catch(() => {
      // Not before Playwright knows the teardown.
      setImmediate(() => {
        if (!this.#isOver && !this.isAbandoned) endRun();
      });
    });
  }

  /** Playwright ends the run by itself. */
  runEnds(): void {
    this.#isOver = true;
  }

  readonly #interrupted = (): void => {
    this.isAbandoned = true;
    void this.#broker.abandon();
  };
}

/** Ends Playwright's run, which fails. */
function endRun(): void {
  // An interrupted run has another exit code.
  process.once('exit', () => {
    process.exitCode = 1;
  });
  process.emit('SIGINT');
}
