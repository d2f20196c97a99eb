import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { debugEnabled } from '../../common/debug.ts';
import type { ServiceChoice } from '../../options/resolve-service.ts';
import type { RunRecord } from '../../record/run-record.ts';
import type { BrokerAddress } from '../rpc/shared-broker.ts';
import { makeSocketAddress } from '../rpc/socket-address.ts';
import type { BrokerConfig } from './config.ts';
import { SupervisedBroker, type WriteRecord } from './supervised-broker.ts';

/** What a run tells its broker. */
export interface StartOptions
  extends Omit<
    BrokerConfig,
    'service' | 'address' | 'token' | 'mark' | 'deadMarks' | 'debug' | 'startTimeoutMs' | 'onlySweep'
  > {
  service: ServiceChoice;
}

/** A broker that this process has started; it ends when this process does. */
export interface StartedBroker {
  address: BrokerAddress;
  /**
   * Resolves when it lends. Rejects with OptionsError, ServiceError or EmulatorError codes as the broker found them (wrong
   * key, unknown pool, no Chromium, service not reachable), before any browser was asked for. Until it lends or is
   * abandoned, who asks for a browser waits.
   */
  ready: Promise<void>;
  /** Waits until it lends; where it may not, it has ended before this rejects. @throws as {@link ready} */
  started(): Promise<void>;
  /** Ends it where it does not lend: before it is ready, which {@link ready} then never is, or because it never will be. */
  abandon(): Promise<void>;
  /**
   * Once it is ready: ends every browser, waits for the service's word, has the run's record written and waits for the
   * broker's exit. Returns the record.
   * @param write without it, or should this process die before it has written, the broker writes the record
   * @throws as {@link started}
   */
  finish(write?: WriteRecord): Promise<RunRecord>;
}

/** Bound on a run's start, in ms: the emulator starts in it, and a service that is overloaded is asked again. */
const START_TIMEOUT_MS = 120_000;

/**
 * Starts the one process that holds this run's leases. Should it die before its time, another one takes its place at the
 * same address, and first gives back what the dead one's ledger names.
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
  ready.catch(() => undefined); // for who waits for it
  const started = async () => {
    await ready.catch(async (error: unknown) => {
      await close();
      throw error;
    });
  };
  const finish: StartedBroker['finish'] = async (write) => {
    await started();
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
  return { address, ready, started, abandon: close, finish };
}
