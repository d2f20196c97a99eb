import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import inspector from 'node:inspector';
import { resolve } from 'node:path';
import * as v from 'valibot';
import { debugEnabled, traceTime } from '../../common/debug.ts';
import { errorMessage, withoutStack } from '../../common/error-message.ts';
import { endProcess, isThere } from '../../common/platform/processes.ts';
import { firstJsonLine } from '../../common/platform/streams.ts';
import { notify } from '../../common/text/notify.ts';
import { LeaseError, OptionsError, PoolwrightError } from '../../errors.ts';
import type { MergedOptions } from '../../options/lease-plan.ts';
import { projectDirectory } from '../../options/project-directory.ts';
import { resolveService, type ServiceChoice } from '../../options/resolve-service.ts';
import type { LeasePlan } from '../../options/schema/plan.ts';
import type { RunRecord } from '../../record/run-record.ts';
import { type BrokerConfig, brokerReady } from '../config/config.ts';
import { limitsFile } from '../ledger/known-limits.ts';
import { connectToBroker } from '../rpc/client.ts';
import { deserializeError } from '../rpc/messages/serialized-error.ts';
import type { BrokerAddress } from '../rpc/shared-broker.ts';
import { RUNNER_SILENT_MS } from '../rpc/silence.ts';
import { makeSocketAddress } from '../rpc/socket-address.ts';
import { earlierAttempts, newRunId } from './ci-run.ts';
import { letProcessEnd, spawnBroker } from './spawn-broker.ts';

/** Deadline for a run's start, in ms: includes the start of the emulator and retries of an overloaded service. */
const START_TIMEOUT_MS = 120_000;
/** Additional time for the broker to report that it could not start in time, in ms. */
const RESPONSE_GRACE_MS = 15_000;
/** Deadline for the end of a run, in ms: every end confirmed, or every attempt over. */
const EXIT_TIMEOUT_MS = 120_000;
/** Deadline for giving back what the last broker left, in ms. */
const LAST_SWEEP_TIMEOUT_MS = 90_000;
/** How often a dead broker is replaced; a broker that keeps dying has a persistent problem. */
const REPLACEMENTS = 3;

/** The configuration that all brokers of a run share. */
type SharedConfig = Omit<BrokerConfig, 'mark' | 'deadMarks' | 'onlySweep'> & { service: ServiceChoice };

/** A run, or a single process, that needs a broker. */
export interface BrokerStart extends Pick<SharedConfig, 'idleMs' | 'projects' | 'runner' | 'shard' | 'workersChosen'> {
  options: MergedOptions;
  /** Directory of the user's package. */
  directory: string;
  /** Default: no record is written. */
  recordDirectory?: string | null;
  /** Default: one. */
  workers?: number;
}

/** A broker, and whose browsers it leases. */
export interface BrokerAndService {
  broker: StartedBroker;
  service: ServiceChoice;
}

/**
 * Starts a broker from the options and this process's environment, which decide on the service, the run and the place
 * of its ledger.
 * @throws OptionsError for invalid options; {@link StartedBroker.ready} reports all other errors
 */
export async function startBrokerWith({
  options,
  directory,
  recordDirectory = null,
  workers = 1,
  ...start
}: BrokerStart): Promise<BrokerAndService> {
  const chosen = resolveService({ ...options, pool: options.pool ?? undefined }, process.env);
  const isWithoutService = chosen.kind === 'browsers' || chosen.kind === 'provider';
  if (isWithoutService) for (const { plan } of start.projects) assertOwn(plan, chosen.kind);
  const service =
    chosen.kind === 'provider' ? { ...chosen, file: resolve(chosen.isOption ? directory : '.', chosen.file) } : chosen;
  const { name, suite, ledgerDirectory } = projectDirectory(directory);
  const broker = await startBroker({
    ...start,
    recordDirectory,
    workers,
    runId: newRunId(process.env),
    service,
    name,
    suite,
    ledgerDirectory,
    // Not the suite's directory, which a config does not know when it asks for them.
    limitsFile: limitsFile(process.cwd(), service),
    overRuns: earlierAttempts(process.env),
  });
  return { broker, service };
}

const OWN = {
  browsers: 'browsers that run already (`browsers` or POOLWRIGHT_CDP_URL)',
  provider: 'those of another one (`provider` or POOLWRIGHT_PROVIDER)',
};

/** Rejects options that only concern browsers of the service. @throws OptionsError */
function assertOwn({ pool, session }: LeasePlan, kind: 'browsers' | 'provider'): void {
  const field = pool !== null ? 'pool' : Object.keys(session).length > 0 ? 'session' : null;
  if (field === null) return;
  throw new OptionsError(
    field,
    `\`${field}\`${field === 'pool' ? ' (POOLWRIGHT_POOL)' : ''} is for browsers of the service, and this run uses ${OWN[kind]}: set only one of them.`,
  );
}

/**
 * Starts the single process that holds this run's leases. If it dies during the run, a replacement starts at the same
 * address and first gives back the browsers in the dead broker's ledger.
 */
export async function startBroker(
  options: Omit<SharedConfig, 'address' | 'token' | 'startTimeoutMs' | 'debug'>,
): Promise<StartedBroker> {
  const { directory, path: address } = await makeSocketAddress();
  const token = randomBytes(24).toString('base64url');
  const debug = debugEnabled('poolwright:broker', process.env.DEBUG);
  return new StartedBroker({ ...options, address, token, startTimeoutMs: START_TIMEOUT_MS, debug }, directory);
}

/**
 * The broker of a run, from the view of the process that has started it and with which it ends. Runs one process at a
 * time, kills it if it hangs, and replaces it if it dies.
 */
export class StartedBroker {
  /**
   * Resolves when the broker can lease browsers. Rejects with the broker's OptionsError, ServiceError or EmulatorError
   * (wrong key, unknown pool, no Chromium, unreachable service) before any browser is requested. Until the broker is
   * ready or abandoned, requests for a browser wait.
   */
  readonly ready: Promise<void>;
  #child: ChildProcess | null = null;
  /** The start of the current process, or of its replacement. */
  #current: Promise<void>;
  #replaced = 0;
  #ending = false;
  /** Marks of every process so far. */
  readonly #marks: string[] = [];
  readonly #config: SharedConfig;
  readonly #socketDirectory: string | null;

  /** @param socketDirectory the directory of the broker's socket, which is removed at the end; null on Windows */
  constructor(config: SharedConfig, socketDirectory: string | null) {
    this.#config = config;
    this.#socketDirectory = socketDirectory;
    this.ready = this.#launch();
    this.ready.catch(() => undefined); // handled by its callers
    this.#current = this.ready;
  }

  get address(): BrokerAddress {
    const { address, token } = this.#config;
    return { address, token };
  }

  /**
   * Waits until the broker can lease browsers. If it cannot, it has ended before this rejects. @throws as {@link ready}
   */
  async started(): Promise<void> {
    try {
      await this.ready;
    } catch (error) {
      await this.abandon();
      throw error;
    }
  }

  /**
   * Ends a broker that does not lease browsers: either it is not ready yet, and {@link ready} then never resolves, or
   * it never will be.
   */
  async abandon(): Promise<void> {
    await this.#close();
    if (this.#socketDirectory) await rm(this.#socketDirectory, { recursive: true, force: true });
  }

  /**
   * Once it is ready: ends every browser, waits until the service confirms this, and waits for the broker's exit.
   * @param take what is done with the run's record, which the broker has written, while the broker exits
   * @returns that record
   * @throws as {@link started}
   */
  async finish(take?: (record: RunRecord) => Promise<void>): Promise<RunRecord> {
    await this.started();
    let record: RunRecord;
    try {
      record = await this.#record();
    } catch (error) {
      // No broker is left that could give back the browsers of the dead ones.
      await this.#close();
      await this.#sweep();
      await this.abandon();
      throw error;
    }
    const exited = this.abandon();
    try {
      await take?.(record);
      return record;
    } finally {
      await exited;
    }
  }

  /** Lets the broker, or the one that replaces it, end the run. */
  async #record(): Promise<RunRecord> {
    for (;;) {
      // Its exit may be the only thing that keeps this process alive.
      this.#child?.ref();
      let asked: ChildProcess | null = null;
      try {
        await this.#current;
        asked = this.#child;
        return await this.#askToFinish();
      } catch (error) {
        const died = error instanceof LeaseError && error.code === 'BROKER_LOST';
        if (!died || this.#replaced >= REPLACEMENTS) throw error;
        // Not the present one: a replacement may be starting already.
        if (asked) await gone(asked);
      }
    }
  }

  async #askToFinish(): Promise<RunRecord> {
    const connection = await connectToBroker(this.#config, 'control');
    try {
      const record = await connection.finish();
      traceTime('runner', 'every browser has ended');
      // From here on, its exit is expected.
      this.#ending = true;
      return record;
    } finally {
      connection.close();
    }
  }

  /** Waits for the process's exit: when its input closes, it gives everything back and starts nothing new. */
  async #close(): Promise<void> {
    this.#ending = true;
    if (this.#child) await endProcess(this.#child, EXIT_TIMEOUT_MS);
  }

  /**
   * Gives back what the run's brokers left when they died, in a separate process: this one has no code for the service.
   */
  async #sweep(): Promise<void> {
    const { kind } = this.#config.service;
    if (kind === 'emulator') return; // its browsers ended with it
    if (kind === 'browsers') return; // they are not ended
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
    await endProcess(child, EXIT_TIMEOUT_MS);
  }

  async #launch(): Promise<void> {
    const child = spawnBroker();
    this.#child = child;
    const mark = randomBytes(4).toString('hex');
    const config = { ...this.#config, mark, deadMarks: [...this.#marks] };
    this.#marks.push(mark);
    await handshake(child, config, config.startTimeoutMs + RESPONSE_GRACE_MS);
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
    this.#current = this.#launch();
    this.#current.catch((error: unknown) => {
      const reason = errorMessage(error);
      notify(`no other broker could be started: ${reason}`);
    });
  }
}

/**
 * Sends a broker its configuration and waits until it can lease browsers, or has done its sweep. A broker that does not
 * respond in time hangs and is killed.
 * @throws PoolwrightError with the broker's reason; LeaseError `BROKER_FAILED` when it ended or did not respond
 */
async function handshake(child: ChildProcess, config: BrokerConfig, timeoutMs: number): Promise<void> {
  const { stdin, stdout } = child;
  if (!stdin || !stdout) throw new LeaseError('BROKER_FAILED', 'The poolwright broker could not be started.');
  stdin.on('error', () => undefined); // it may exit before it has read; its response shows this
  stdin.write(`${JSON.stringify(config)}\n`);
  let response: unknown;
  try {
    response = await firstJsonLine(stdout, timeoutMs);
  } catch (error) {
    child.kill('SIGKILL');
    const isLate = error instanceof PoolwrightError && error.code === 'TIMEOUT';
    const what = isLate
      ? `did not say within ${timeoutMs / 1000} s whether it can lease browsers`
      : 'ended before it could lease a browser; its message is above';
    throw new LeaseError('BROKER_FAILED', `The poolwright broker ${what}.`, { cause: error });
  }
  const ready = v.parse(brokerReady, response);
  if (ready.ok) return;
  throw withoutStack(deserializeError(ready.error));
}

/** Waits until a process that was asked in vain has exited, and its replacement is starting. */
async function gone(child: ChildProcess): Promise<void> {
  if (!isThere(child)) return;
  child.kill('SIGKILL'); // it accepted the request and closed the connection: it is of no more use
  await once(child, 'exit');
}
