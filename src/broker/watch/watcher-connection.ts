import { type Calls, callsOver } from '../rpc/call-table.ts';
import { openBroker } from '../rpc/client.ts';
import type { BrokerAddress } from '../rpc/shared-broker.ts';
import { WATCHER_CALLS } from './calls.ts';

/** The connection of a watcher to a broker. Each call rejects when it is lost. */
export interface WatcherConnection extends Calls<typeof WATCHER_CALLS> {
  /** Resolves when the connection is closed. */
  readonly closed: Promise<unknown>;
  close(): void;
}

/** @param address with the token of those who watch @throws LeaseError `BROKER_LOST` without a broker there */
export async function connectAsWatcher(address: BrokerAddress): Promise<WatcherConnection> {
  const { ask, requests, socket } = await openBroker(address, 'observer');
  return { ...callsOver(WATCHER_CALLS, ask), closed: requests.closed, close: () => socket.destroy() };
}
