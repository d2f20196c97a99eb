import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import inspector from 'node:inspector';
import { errorMessage } from '../../common/error-message.ts';
import { notify } from '../../common/text/notify.ts';
import { traceTime } from '../../common/time-trace.ts';
import { LeaseError } from '../../errors.ts';
import type { ServiceChoice } from '../../options/resolve-service.ts';
import type { RunRecord } from '../../record/run-record.ts';
import { connectToBroker } from '../rpc/client.ts';
import { RUNNER_SILENT_MS } from '../rpc/silence.ts';
import { exit, handshake } from './broker-process.ts';
import { isThere } from './child-process.ts';
import type { BrokerConfig } from './config.ts';
import { letProcessEnd, spawnBroker } from './spawn-broker.ts';

/** Additional time for the broker to report that it could not start in time, in ms. */
const ANSWER_GRACE_MS = 15_000;
/** Deadline for giving back what the last broker left, in ms. */
const LAST_SWEEP_TIMEOUT_MS = 90_000;
/** How often a dead broker is replaced; a broker that keeps dying has a persistent problem. */
const REPLACEMENTS = 3;

/** The configuration that all brokers of a run share. */
export type SharedConfig = Omit<BrokerConfig, 'mark' | 'deadMarks'> & { service: ServiceChoice };

/** Runs one broker process at a time and replaces it when it dies. Kills a broker that hangs. */
export class SupervisedBroker {
  #child: ChildProcess | null = null;
  /** The start of the current process, or of its replacement. */
  #ready: Promise<void> | null = null;
  #replaced = 0;
  #ending = false;
  /** Marks of every process so far. */
  readonly #marks: string[] = [];

  readonly #config: SharedConfig;

  constructor(config: SharedConfig) {
    this.#config = config;
  }

  start(): Promise<void> {
    this.#ready = this.#launch();
    return this.#ready;
  }

  async finish(): Promise<RunRecord> {
    for (;;) {
      // Its exit may be the only thing that keeps this process alive.
      this.#child?.ref();
      try {
        await this.#ready;
        return await this.#askToFinish();
      } catch (error) {
        const died = error instanceof LeaseError && error.code === 'BROKER_LOST';
        if (!died || this.#replaced >= REPLACEMENTS) throw error;
        await this.#gone();
      }
    }
  }

  async #askToFinish(): Promise<RunRecord> {
    const connection = await connectToBroker(this.#config, 'control');
    try {
      const finished = connection.finish();
      // Load while the broker ends the browsers. If our reporter is in use, this is already loaded.
      const { runRecord } = await import('../../record/run-record.ts');
      const record = runRecord.parse(await finished);
      traceTime('runner', 'every browser has ended');
      // From here on, its exit is expected.
      this.#ending = true;
      return record;
    } finally {
      connection.close();
    }
  }

  /** Waits for the process's exit: when its input closes, it gives everything back and starts nothing new. */
  async close(): Promise<void> {
    this.#ending = true;
    if (this.#child) await exit(this.#child);
  }

  /**
   * Gives back what the run's brokers left when they died, in a separate process: this one has no code for the service.
   */
  async sweep(): Promise<void> {
    if (this.#config.service.kind === 'emulator') return; // its browsers ended with it
    const child = spawnBroker();
    try {
      await handshake(
        child,
        { ...this.#config, mark: '', deadMarks: this.#marks, onlySweep: true },
        LAST_SWEEP_TIMEOUT_MS,
      );
    } catch (error) {
      const reason = errorMessage(error);
      notify(`browsers of this run may be left (${reason}): \`npx poolwright sweep\` stops them`);
    }
    await exit(child);
  }

  /** Waits until the current process has exited and its replacement is starting. */
  async #gone(): Promise<void> {
    const child = this.#child;
    if (child && isThere(child)) {
      child.kill('SIGKILL'); // it accepted the request and closed the connection: it is of no more use
      await once(child, 'exit');
    }
  }

  async #launch(): Promise<void> {
    const child = spawnBroker();
    this.#child = child;
    const mark = randomBytes(4).toString('hex');
    const config = { ...this.#config, mark, deadMarks: [...this.#marks] };
    this.#marks.push(mark);
    await handshake(child, config, config.startTimeoutMs + ANSWER_GRACE_MS);
    child.once('exit', (code, signal) => this.#exited(signal ?? `exit code ${code}`));
    letProcessEnd(child);
    void this.#watch(child);
  }

  /**
   * Kills a broker that hangs: its exit is noticed even if this process waits for something else. The same connection
   * shows the broker that this process is alive: after ten minutes of silence, the broker gives everything back.
   */
  async #watch(child: ChildProcess): Promise<void> {
    const hangs = await connectToBroker(this.#config, 'control').then(
      (line) => {
        line.unref();
        line.allowSilence(inspector.url() === undefined ? RUNNER_SILENT_MS : null);
        return line.closed;
      },
      () => true,
    );
    if (hangs && isThere(child)) child.kill('SIGKILL');
  }

  #exited(how: string): void {
    if (this.#ending || this.#replaced >= REPLACEMENTS) return;
    this.#replaced += 1;
    notify(`the broker of this run died (${how}); another one takes over`);
    this.#ready = this.#launch();
    this.#ready.catch((error: unknown) => {
      const reason = errorMessage(error);
      notify(`no other broker could be started: ${reason}`);
    });
  }
}
