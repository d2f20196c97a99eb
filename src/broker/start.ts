import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LeaseError, OptionsError, PoolwrightError, type PoolwrightErrorCode } from '../errors.ts';
import type { ServiceChoice } from '../options/resolve-service.ts';
import { connectToBroker } from './client.ts';
import { type BrokerAddress, type BrokerConfig, brokerReady } from './config.ts';
import { firstJsonLine } from './json-line.ts';
import { debugEnabled } from './log.ts';
import { processFile } from './process-file.ts';
import type { RunRecord } from './run-record.ts';

/** What a run tells its broker. */
export interface StartOptions
  extends Pick<BrokerConfig, 'runId' | 'recordFolder' | 'workers' | 'shard' | 'checkPools'> {
  service: ServiceChoice;
}

/** A broker that this process has started; it ends when this process does. */
export interface StartedBroker {
  address: BrokerAddress;
  /** The service's address. */
  baseURL: string;
  /** Ends every browser, waits for the service's word and the broker's exit, and answers with the run's record. */
  finish(): Promise<RunRecord>;
}

/** The emulator starts inside this time too, in ms. */
const START_TIMEOUT_MS = 60_000;
/** All browsers confirmed, or every try over: bound on the end of a run, in ms. */
const EXIT_TIMEOUT_MS = 120_000;

/**
 * Starts the one process that holds this run's leases, and waits until it can lend.
 * @throws OptionsError, ServiceError or EmulatorError codes as the broker found them (wrong key, unknown pool, no
 * Chromium, service not reachable): before any browser was asked for.
 */
export async function startBroker(options: StartOptions): Promise<StartedBroker> {
  const folder = process.platform === 'win32' ? null : await mkdtemp(join(tmpdir(), 'poolwright-'));
  const name = randomBytes(8).toString('hex');
  const address: BrokerAddress = {
    address: folder ? join(folder, 'broker.sock') : `\\\\.\\pipe\\poolwright-${name}`,
    token: randomBytes(24).toString('base64url'),
  };
  const removeFolder = async () => {
    if (folder) await rm(folder, { recursive: true, force: true });
  };

  const { NODE_OPTIONS: _ours, ...env } = process.env; // a debugger or loader of the run is not the broker's
  const child = spawn(process.execPath, [processFile('broker-main')], {
    detached: true, // out of the terminal's process group: Ctrl-C must not take it before the browsers
    stdio: ['pipe', 'pipe', 'inherit'],
    env,
  });
  try {
    const baseURL = await handshake(child, {
      ...options,
      ...address,
      debug: debugEnabled('poolwright:broker', process.env.DEBUG),
    });
    child.unref();
    const finish = async () => {
      try {
        return await askToFinish(address);
      } finally {
        await exit(child);
        await removeFolder();
      }
    };
    return { address, baseURL, finish };
  } catch (error) {
    await exit(child);
    await removeFolder();
    throw error;
  }
}

async function handshake(child: ChildProcess, config: BrokerConfig): Promise<string> {
  const { stdin, stdout } = child;
  if (!stdin || !stdout) throw new LeaseError('BROKER_FAILED', 'The poolwright broker could not be started.');
  stdin.on('error', () => undefined); // it may be gone before it has read: its answer tells
  stdin.write(`${JSON.stringify(config)}\n`);
  let answer: unknown;
  try {
    answer = await firstJsonLine(stdout, START_TIMEOUT_MS);
  } catch (error) {
    throw new LeaseError('BROKER_FAILED', 'The poolwright broker did not start; its message is above.', {
      cause: error,
    });
  }
  const ready = brokerReady.parse(answer);
  if (ready.ok) return ready.baseURL;
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

async function askToFinish(address: BrokerAddress): Promise<RunRecord> {
  const connection = await connectToBroker(address, 'control');
  try {
    return await connection.finish();
  } finally {
    connection.close();
  }
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
