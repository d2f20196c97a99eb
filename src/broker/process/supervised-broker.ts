import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import inspector from 'node:inspector';
import { errorMessage } from '../../common/error-message.ts';
import { notify } from '../../common/text/notify.ts';
import { traceTime } from '../../common/time-trace.ts';
import { LeaseError } from '../../errors.ts';
import type { ServiceChoice } from '../../options/resolve-service.ts';
import { type RunRecord, runRecord } from '../../record/run-record.ts';
import { connectToBroker } from '../rpc/client.ts';
import { RUNNER_SILENT_MS } from '../rpc/silence.ts';
import { exit, handshake, isThere } from './broker-process.ts';
import type { BrokerConfig } from './config.ts';
import { letProcessEnd, spawnBroker } from './spawn-broker.ts';

/** How long the broker may take to say that it could not start in that time, in ms. */
const ANSWER_GRACE_MS = 15_000;
/** Bound on giving back what the last broker left, in ms. */
const LAST_SWEEP_TIMEOUT_MS = 90_000;
/** A broker that dies is replaced this often; one that dies again and again has a reason. */
const REPLACEMENTS = 3;

/** Writes a run's record. False: it could not be written. Never rejects. */
export type WriteRecord = (record: RunRecord) => Promise<boolean>;

/** What all brokers of a run are told. */
export type SharedConfig = Omit<BrokerConfig, 'mark' | 'deadMarks'> & { service: ServiceChoice };

/** One broker process at a time, the next one when it dies. One that hangs is killed. */
export class SupervisedBroker {
  #child: ChildProcess | null = null;
  /** The present process's start; a replacement's while there is one on its way. */
  #ready: Promise<void> | null = null;
  #replaced = 0;
  #ending = false;
  /** Of every process so far. */
  readonly #marks: string[] = [];

  readonly #config: SharedConfig;

  constructor(config: SharedConfig) {
    this.#config = config;
  }

  start(): Promise<void> {
    this.#ready = this.#launch();
    return this.#ready;
  }

  async finish(write: WriteRecord | undefined): Promise<RunRecord> {
    for (;;) {
      // Its exit may be all that is waited for.
      this.#child?.ref();
      try {
        await this.#ready;
        return await this.#askToFinish(write);
      } catch (error) {
        const died = error instanceof LeaseError && error.code === 'BROKER_LOST';
        if (!died || this.#replaced >= REPLACEMENTS) throw error;
        await this.#gone();
      }
    }
  }

  async #askToFinish(write: WriteRecord | undefined): Promise<RunRecord> {
    const connection = await connectToBroker(this.#config, 'control');
    try {
      const record = runRecord.parse(await connection.finish());
      traceTime('runner', 'every browser has ended');
      // From here on its exit is its end.
      this.#ending = true;
      // One that has gone by now cannot be told, and writes nothing either.
      if (await write?.(record)) await connection.recorded().catch(() => undefined);
      traceTime('runner', 'the record is written');
      return record;
    } finally {
      connection.close();
    }
  }

  /** Waits for the process's exit; it gives everything back when its input closes, and begins nothing any more. */
  async close(): Promise<void> {
    this.#ending = true;
    if (this.#child) await exit(this.#child);
  }

  /** Gives back what the run's brokers left when they died, in a process of its own: nothing here knows the service. */
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

  /** Waits until the present process has exited, and its replacement is on its way. */
  async #gone(): Promise<void> {
    const child = this.#child;
    if (child && isThere(child)) {
      child.kill('SIGKILL'); // it took the request and closed the line: it is of no use any more
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
   * Kills a broker that hangs: its exit is seen, whatever waits for it. It learns here that this process is there, too:
   * one that hangs for ten minutes counts as dead, and the broker gives everything back.
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
