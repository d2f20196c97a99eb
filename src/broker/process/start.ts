import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { Socket } from 'node:net';
import { debugEnabled } from '../../common/debug.ts';
import { distFile } from '../../common/dist-file.ts';
import { errorMessage } from '../../common/error-message.ts';
import { firstJsonLine } from '../../common/json-line.ts';
import { traceTime } from '../../common/time-trace.ts';
import { LeaseError, OptionsError, PoolwrightError, type PoolwrightErrorCode } from '../../errors.ts';
import type { ServiceChoice } from '../../options/resolve-service.ts';
import { type RunRecord, runRecord } from '../../record/run-record.ts';
import { connectToBroker } from '../rpc/client.ts';
import type { BrokerAddress } from '../rpc/shared-broker.ts';
import { makeSocketAddress } from '../rpc/socket-address.ts';
import { type BrokerConfig, type BrokerReady, brokerReady } from './config.ts';

/** What a run tells its broker. */
export interface StartOptions
  extends Omit<
    BrokerConfig,
    'service' | 'address' | 'token' | 'mark' | 'deadMarks' | 'debug' | 'startTimeoutMs' | 'onlySweep'
  > {
  service: ServiceChoice;
}

/** Writes a run's record. False: it could not be written. Never rejects. */
export type WriteRecord = (record: RunRecord) => Promise<boolean>;

/** A broker that this process has started; it ends when this process does. */
export interface StartedBroker {
  address: BrokerAddress;
  /** The service's address. */
  baseURL: string;
  /** What the user should know before the run begins, one line each. */
  notices: string[];
  /**
   * Ends every browser, waits for the service's word, has the run's record written and waits for the broker's exit.
   * Returns the record.
   * @param write without it, or should this process die before it has written, the broker writes the record
   */
  finish(write?: WriteRecord): Promise<RunRecord>;
}

/** Bound on a run's start, in ms: the emulator starts in it, and a service that is overloaded is asked again. */
const START_TIMEOUT_MS = 120_000;
/** How long the broker may take to say that it could not start in that time, in ms. */
const ANSWER_GRACE_MS = 15_000;
/** Bound on giving back what the last broker left, in ms. */
const LAST_SWEEP_TIMEOUT_MS = 90_000;
/** All browsers confirmed, or every try over: bound on the end of a run, in ms. */
const EXIT_TIMEOUT_MS = 120_000;
/** It waits more than it works: memory before speed. */
const SMALL_HEAP = ['--optimize-for-size', '--max-semi-space-size=1'];
/** A broker that dies is replaced this often; one that dies again and again has a reason. */
const REPLACEMENTS = 3;

/**
 * Starts the one process that holds this run's leases, and waits until it can lend. Should it die before its time,
 * another one takes its place at the same address, and first gives back what the dead one's ledger names.
 * @throws OptionsError, ServiceError or EmulatorError codes as the broker found them (wrong key, unknown pool, no
 * Chromium, service not reachable): before any browser was asked for.
 */
export async function startBroker(options: StartOptions): Promise<StartedBroker> {
  const { folder, path } = await makeSocketAddress();
  const address: BrokerAddress = { address: path, token: randomBytes(24).toString('base64url') };
  const debug = debugEnabled('poolwright:broker', process.env.DEBUG);
  const config = { ...options, ...address, startTimeoutMs: START_TIMEOUT_MS, debug };
  const broker = new SupervisedBroker(config);
  const close = async () => {
    await broker.close();
    if (folder) await rm(folder, { recursive: true, force: true });
  };
  try {
    const { baseURL, notices } = await broker.start();
    const finish: StartedBroker['finish'] = async (write) => {
      try {
        return await broker.finish(write);
      } catch (error) {
        // No broker is left that would give back what the dead ones had.
        await broker.close();
        await broker.sweep();
        throw error;
      } finally {
        await close();
      }
    };
    return { address, baseURL, notices, finish };
  } catch (error) {
    await close();
    throw error;
  }
}

type Ready = Extract<BrokerReady, { ok: true }>;

/** What all brokers of a run are told. */
type SharedConfig = Omit<BrokerConfig, 'mark' | 'deadMarks'> & { service: ServiceChoice };

/** One broker process at a time, the next one when it dies. */
class SupervisedBroker {
  #child: ChildProcess | null = null;
  /** The present process's start; a replacement's while there is one on its way. */
  #ready: Promise<Ready> | null = null;
  #replaced = 0;
  #ending = false;
  /** Of every process so far. */
  readonly #marks: string[] = [];

  readonly #config: SharedConfig;

  constructor(config: SharedConfig) {
    this.#config = config;
  }

  start(): Promise<Ready> {
    this.#ready = this.#launch();
    return this.#ready;
  }

  async finish(write: WriteRecord | undefined): Promise<RunRecord> {
    for (;;) {
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

  /** Waits for the process's exit; it gives everything back when its input closes. */
  async close(): Promise<void> {
    this.#ending = true;
    await this.#ready?.catch(() => undefined);
    if (this.#child) await exit(this.#child);
  }

  /** Gives back what the run's brokers left when they died, in a process of its own: nothing here knows the service. */
  async sweep(): Promise<void> {
    if (this.#config.service.kind === 'emulator') return; // its browsers ended with it
    const child = spawnBroker();
    try {
      const { notices } = await handshake(
        child,
        { ...this.#config, mark: '', deadMarks: this.#marks, onlySweep: true },
        LAST_SWEEP_TIMEOUT_MS,
      );
      for (const notice of notices) say(notice);
    } catch (error) {
      const reason = errorMessage(error);
      say(`browsers of this run may be left (${reason}): \`npx poolwright sweep\` stops them`);
    }
    await exit(child);
  }

  /** Waits until the present process has exited, and its replacement is on its way. */
  async #gone(): Promise<void> {
    const child = this.#child;
    if (child && child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL'); // it took the request and closed the line: it is of no use any more
      await once(child, 'exit');
    }
  }

  async #launch(): Promise<Ready> {
    const child = spawnBroker();
    this.#child = child;
    const mark = randomBytes(4).toString('hex');
    const config = { ...this.#config, mark, deadMarks: [...this.#marks] };
    this.#marks.push(mark);
    const ready = await handshake(child, config, START_TIMEOUT_MS + ANSWER_GRACE_MS);
    child.once('exit', (code, signal) => this.#exited(signal ?? `exit code ${code}`));
    letProcessEnd(child);
    return ready;
  }

  #exited(how: string): void {
    if (this.#ending || this.#replaced >= REPLACEMENTS) return;
    this.#replaced += 1;
    say(`the broker of this run died (${how}); another one takes over`);
    this.#ready = this.#launch();
    this.#ready.catch((error: unknown) => {
      const reason = errorMessage(error);
      say(`no other broker could be started: ${reason}`);
    });
  }
}

function spawnBroker(): ChildProcess {
  const { NODE_OPTIONS: _ours, ...env } = process.env; // a debugger or loader of the run is not the broker's
  return spawn(process.execPath, [...SMALL_HEAP, distFile('broker-main.js')], {
    detached: true, // out of the terminal's process group: Ctrl-C must not take it before the browsers
    stdio: ['pipe', 'pipe', 'inherit'],
    windowsHide: true,
    env,
  });
}

/** A script that has given its browsers back ends, and its broker with it: no handle of the broker's keeps it. */
function letProcessEnd(child: ChildProcess): void {
  child.unref();
  for (const stream of [child.stdin, child.stdout]) if (stream instanceof Socket) stream.unref();
}

function say(line: string): void {
  process.stderr.write(`poolwright: ${line}\n`);
}

/** Tells a broker what it is to do, and waits for its one answer. */
async function handshake(child: ChildProcess, config: BrokerConfig, timeoutMs: number): Promise<Ready> {
  const { stdin, stdout } = child;
  if (!stdin || !stdout) throw new LeaseError('BROKER_FAILED', 'The poolwright broker could not be started.');
  stdin.on('error', () => undefined); // it may be gone before it has read: its answer tells
  stdin.write(`${JSON.stringify(config)}\n`);
  let answer: unknown;
  try {
    answer = await firstJsonLine(stdout, timeoutMs);
  } catch (error) {
    const isLate = error instanceof PoolwrightError && error.code === 'TIMEOUT';
    const what = isLate
      ? `did not say within ${timeoutMs / 1000} s whether it can lend browsers`
      : 'ended before it could lend a browser; its message is above';
    throw new LeaseError('BROKER_FAILED', `The poolwright broker ${what}.`, { cause: error });
  }
  const ready = brokerReady.parse(answer);
  if (ready.ok) return ready;
  throw startError(ready.code, ready.message, ready.field);
}

/** The broker's own error, as if it had been thrown here; its text is for the user, so it has no stack. */
function startError(code: PoolwrightErrorCode, message: string, field: string | null): PoolwrightError {
  if (field !== null)
    return new OptionsError(field, message, code === 'ENVIRONMENT_MISSING' ? code : 'OPTIONS_INVALID');
  const error = new PoolwrightError(code, message);
  error.stack = `${error.name}: ${message}`;
  return error;
}

async function exit(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.ref();
  child.stdin?.end();
  const timer = setTimeout(() => child.kill('SIGKILL'), EXIT_TIMEOUT_MS);
  await exited;
  clearTimeout(timer);
}
