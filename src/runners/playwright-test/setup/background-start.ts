import type { ChildProcess } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { setTimeout as delay } from 'node:timers/promises';
import type { StartedBroker } from '../../../broker/start/started-broker.ts';

/** How much later than the first worker the others start at most, in ms. */
const SIBLINGS_MS = 50;

/**
 * Lets a run begin before its broker can lease browsers. Playwright starts its workers meanwhile, and they wait. If the
 * broker fails (wrong key, no pool), this ends the run as Ctrl-C does, because Playwright offers no other way. No test
 * has a browser then. The teardown throws the broker's error, and the run fails.
 */
export class BackgroundStart {
  /** Whether the user ended the run before the broker was ready: there is nothing to give back. */
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

  /** The global setup has ended. @throws the broker's error, if it has already failed */
  async runBegins(): Promise<void> {
    if (this.#isRefused) await this.#broker.started();
    // A worker that Playwright is about to start would miss its message to stop, and Playwright would wait five minutes
    // for its end.
    const started = workerStart();
    this.#broker.ready.catch(async () => {
      await started;
      await delay(SIBLINGS_MS);
      if (!this.#isOver && !this.isAbandoned) endRun();
    });
  }

  /** Playwright is ending the run itself. */
  runEnds(): void {
    this.#isOver = true;
  }

  readonly #interrupted = (): void => {
    this.isAbandoned = true;
    void this.#broker.abandon();
  };
}

/** Resolves when Playwright starts its first worker: a child process with a channel, which our own do not have. */
function workerStart(): Promise<void> {
  return new Promise((resolve) => {
    const started = (message: unknown) => {
      // The event comes before the process has its channel.
      setImmediate(() => {
        if (!hasChannel(message)) return;
        unsubscribe('child_process', started);
        resolve();
      });
    };
    subscribe('child_process', started);
  });
}

/** @param message what Node publishes when a child process starts */
function hasChannel(message: unknown): boolean {
  return (message as { process: ChildProcess }).process.connected;
}

/** Ends Playwright's run as failed. */
function endRun(): void {
  // The exit code of an interrupted run would be another one.
  process.once('exit', () => {
    process.exitCode = 1;
  });
  process.emit('SIGINT');
}
