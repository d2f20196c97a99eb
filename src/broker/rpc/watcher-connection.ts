import * as v from 'valibot';
import type { PageInput } from '../../common/page/page-input.ts';
import { openBroker } from './client.ts';
import { METHODS } from './messages/protocol.ts';
import type { BrokerAddress } from './shared-broker.ts';
import {
  type Demand,
  type RunViewReply,
  runViewReply,
  type WatcherPicture,
  watcherPictures,
} from './watch-requests.ts';

/** The connection of a watcher to a broker. Each call rejects when it is lost. */
export interface WatcherConnection {
  /**
   * Resolves as soon as the run's state is newer than the known one, with the tests that have ended since.
   * @param after its number; 0: none
   * @param known how many tests had ended
   */
  view(after: number, known: number): Promise<RunViewReply>;
  /** Resolves with the pictures that are not taken, as soon as there is one. */
  pictures(): Promise<WatcherPicture[]>;
  /** A picture is shown: its page's next one may come. */
  shown(number: number): Promise<void>;
  demand(slots: Demand): Promise<void>;
  input(slot: number, target: string, input: PageInput): Promise<void>;
  release(slot: number): Promise<void>;
  /** Resolves when the connection is closed. */
  readonly closed: Promise<unknown>;
  close(): void;
}

/** @param address with the token of those who watch @throws LeaseError `BROKER_LOST` without a broker there */
export async function connectAsWatcher(address: BrokerAddress): Promise<WatcherConnection> {
  const { ask, requests, socket } = await openBroker(address, 'watcher');
  return {
    view: async (after, known) => v.parse(runViewReply, await ask(METHODS.runView, { after, known })),
    pictures: async () => v.parse(watcherPictures, await ask(METHODS.pictures, {})),
    shown: async (number) => void (await ask(METHODS.shown, { number })),
    demand: async (slots) => void (await ask(METHODS.demand, { slots })),
    input: async (slot, target, input) => void (await ask(METHODS.input, { slot, target, input })),
    release: async (slot) => void (await ask(METHODS.release, { slot })),
    closed: requests.closed,
    close: () => socket.destroy(),
  };
}
