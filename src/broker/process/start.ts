import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { debugEnabled } from '../../common/debug.ts';
import type { ServiceChoice } from '../../options/resolve-service.ts';
import type { RunRecord } from '../../record/run-record.ts';
import type { BrokerAddress } from '../rpc/shared-broker.ts';
import { makeSocketAddress } from '../rpc/socket-address.ts';
import type { BrokerConfig } from './config.ts';
import { SupervisedBroker } from './supervised-broker.ts';

/** Options that a run passes to its broker. */
export interface StartOptions
  extends Omit<
    BrokerConfig,
    'service' | 'address' | 'token' | 'mark' | 'deadMarks' | 'debug' | 'startTimeoutMs' | 'onlySweep'
  > {
  service: ServiceChoice;
}

/** A broker that this process has started; it ends with this process. */
export interface StartedBroker {
  address: BrokerAddress;
  /**
   * Resolves when the broker can lease browsers. Rejects with the broker's OptionsError, ServiceError or EmulatorError
   * (wrong key, unknown pool, no Chromium, unreachable service) before any browser is requested. Until the broker is
   * ready or abandoned, requests for a browser wait.
   */
  ready: Promise<void>;
  /**
   * Waits until the broker can lease browsers. If it cannot, it has ended before this rejects. @throws as {@link ready}
   */
  started(): Promise<void>;
  /**
   * Ends a broker that does not lease browsers: either it is not ready yet, and {@link ready} then never resolves, or
   * it never will be.
   */
  abandon(): Promise<void>;
  /**
   * Once it is ready: ends every browser, waits until the service confirms this, and waits for the broker's exit.
   * Returns the run's record, which the broker has written.
   * @throws as {@link started}
   */
  finish(): Promise<RunRecord>;
}

/** Deadline for a run's start, in ms: includes the start of the emulator and retries of an overloaded service. */
const START_TIMEOUT_MS = 120_000;

/**
 * Starts the single process that holds this run's leases. If it dies during the run, a replacement starts at the same
 * address and first gives back the browsers in the dead broker's ledger.
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
  const ready = broker.start();
  ready.catch(() => undefined); // handled by its callers
  const started = async () => {
    await ready.catch(async (error: unknown) => {
      await close();
      throw error;
    });
  };
  const finish: StartedBroker['finish'] = async () => {
    await started();
    try {
      return await broker.finish();
    } catch (error) {
      // No broker is left that could give back the browsers of the dead ones.
      await broker.close();
      await broker.sweep();
      throw error;
    } finally {
      await close();
    }
  };
  return { address, ready, started, abandon: close, finish };
}
