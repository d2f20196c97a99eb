import type { Handlers } from '../rpc/call-table.ts';
import type { WATCHED_CALLS, WATCHER_CALLS } from '../rpc/watch-calls.ts';
import type { WatchHub } from '../watch/watch-hub.ts';
import type { Watcher } from '../watch/watcher.ts';

/** Handles the requests of one connection that watching needs. */
export interface WatchHandlers {
  handlers: Handlers<typeof WATCHED_CALLS & typeof WATCHER_CALLS>;
  /** Call it when the connection is closed. */
  gone(): void;
}

/** @param closed fires when the connection is closed */
export function watchHandlers(hub: WatchHub, closed: AbortSignal): WatchHandlers {
  const connection = {};
  let watcher: Watcher | null = null;
  const watching = () => {
    watcher ??= hub.open();
    return watcher;
  };
  let holding = new AbortController();
  return {
    handlers: {
      running: ({ tests }) => hub.running(connection, tests),
      picture: (picture) => hub.picture(picture),
      pageClosed: ({ slot, target }) => hub.pageClosed(slot, target),
      hold: (params) => {
        holding = new AbortController();
        return hub.hold(params, AbortSignal.any([closed, holding.signal]));
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
    },
    gone: () => {
      hub.gone(connection);
      if (watcher) hub.close(watcher);
    },
  };
}
