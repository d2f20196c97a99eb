import * as v from 'valibot';
import { METHODS } from './messages/protocol.ts';
import type { WatchedBroker } from './orders.ts';
import { type HoldParams, inputs, type PictureParams, type RunningTests, type SlotInput } from './watch-requests.ts';

/** What watchers need from a worker or a runner. Each call rejects when the connection to the broker is lost. */
export interface WatchedConnection extends Pick<WatchedBroker, 'orders'> {
  /** Sets the tests that this connection runs. */
  running(tests: RunningTests): Promise<void>;
  /** Resolves when the watchers have shown the picture. */
  picture(picture: PictureParams): Promise<void>;
  pageClosed(slot: number, target: string): Promise<void>;
  /** Resolves when a watcher has released the slot, or after {@link endHold}. One hold at a time. */
  hold(hold: HoldParams): Promise<void>;
  endHold(): Promise<void>;
  /** Resolves with what watchers have done in the pages of the slot; null when it is not on hold. */
  inputs(slot: number): Promise<SlotInput[] | null>;
}

/** Loaded when somebody watches, or a test holds. */
export function watchedConnection({ orders, ask }: WatchedBroker): WatchedConnection {
  return {
    orders,
    running: async (tests) => void (await ask(METHODS.running, { tests })),
    picture: async (picture) => void (await ask(METHODS.picture, picture)),
    pageClosed: async (slot, target) => void (await ask(METHODS.pageClosed, { slot, target })),
    hold: async (hold) => void (await ask(METHODS.hold, hold)),
    endHold: async () => void (await ask(METHODS.endHold, {})),
    inputs: async (slot) => v.parse(inputs, await ask(METHODS.inputs, { slot })),
  };
}
