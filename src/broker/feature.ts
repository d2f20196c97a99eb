import type { TestRecord } from '../record/run-record.ts';
import type { BrokerConfig } from './config/config.ts';
import type { CallTable, ErasedHandlers } from './rpc/call-table.ts';
import type { BrokerAddress } from './rpc/shared-broker.ts';

/**
 * What a broker can do without: a directory, and one line in `run/run.ts`. Without both, everything else
 * compiles and passes (`node scripts/without.mjs`).
 */
export interface BrokerFeature {
  /** Its requests. They do not wait until the run begins. */
  readonly calls: CallTable;
  /** Returns what handles them for one connection. @param closed fires when it is closed */
  connected(closed: AbortSignal): ErasedHandlers;
  /** @param address with the token of observers. Returns what to call when the broker no longer listens. */
  listens(address: BrokerAddress): () => void;
  runBegan(run: RunOverview): void;
  /** Every browser is given back, and the record is written. */
  runEnded(): void;
}

export interface BrokerFeatureModule {
  create(config: BrokerConfig): BrokerFeature;
}

/** A run that has begun. */
export interface RunOverview {
  /** The workers that have a browser, and those that wait for one. */
  slots(): SlotState[];
  /** Tests that have ended, with the session of each. */
  tests(): { sessionId: string; test: TestRecord }[];
  readonly secrets: readonly string[];
}

/** The browser of a worker slot. */
export interface SlotState {
  /** `parallelIndex` of the worker. */
  slot: number;
  /** ID of the session; null without a browser. */
  sessionId: string | null;
  /** What the slot waits for when it needs a browser and has none; else null. */
  waitsFor: string | null;
  /** Since when it waits, has the browser, or is free. */
  since: number;
}
