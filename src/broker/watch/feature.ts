import type { BrokerConfig } from '../config/config.ts';
import type { BrokerFeature } from '../feature.ts';
import type { Handlers } from '../rpc/call-table.ts';
import { announce } from './announcement.ts';
import { WATCHED_CALLS, WATCHER_CALLS } from './calls.ts';
import { ORDER_CALLS } from './orders.ts';
import { WatchHub } from './watch-hub.ts';
import type { Watcher } from './watcher.ts';

const CALLS = { ...ORDER_CALLS, ...WATCHED_CALLS, ...WATCHER_CALLS };

export function create({ name, runner }: BrokerConfig): BrokerFeature {
  return watching(new WatchHub({ name, runner }));
}

/** Lets observers watch a run. */
export function watching(hub: WatchHub): BrokerFeature {
  return {
    calls: CALLS,
    connected: (closed) => handlersOf(hub, closed),
    listens: announce,
    runBegan: (run) => hub.begin(run),
    runEnded: () => hub.end(),
  };
}

function handlersOf(hub: WatchHub, closed: AbortSignal): Handlers<typeof CALLS> {
  const connection = {};
  let watcher: Watcher | null = null;
  const watching = () => {
    watcher ??= hub.open();
    return watcher;
  };
  let holding = new AbortController();
  closed.addEventListener('abort', () => {
    holding.abort();
    hub.gone(connection);
    if (watcher) hub.close(watcher);
  });
  return {
    watchOrders: ({ slot, after }) => hub.orders(slot, after, closed),
    running: ({ tests }) => hub.running(connection, tests),
    picture: (picture) => hub.picture(picture),
    pageClosed: ({ slot, target }) => hub.pageClosed(slot, target),
    hold: (params) => {
      holding = new AbortController();
      return hub.hold(params, holding.signal);
    },
    endHold: () => holding.abort(),
    inputs: ({ slot }) => hub.inputs(slot),
    runView: ({ after, known }) => {
      watching();
      return hub.view(after, known, closed);
    },
    demand: ({ slots }) => hub.demand(watching(), slots),
    pictures: () => watching().take(),
    shown: ({ number }) => watching().shown(number),
    input: ({ slot, target, input }) => hub.input(slot, target, input),
    release: ({ slot }) => hub.release(slot),
  };
}
