import { METHODS } from '../rpc/messages/protocol.ts';
import { noParams } from '../rpc/messages/requests.ts';
import type { AddHandler } from '../rpc/request-handlers.ts';
import {
  demandParams,
  holdParams,
  inputParams,
  pageClosedParams,
  pictureParams,
  runningParams,
  runViewParams,
  shownParams,
  slotParams,
  watchedParams,
} from '../rpc/watch-requests.ts';
import type { WatchHub } from '../watch/watch-hub.ts';
import type { Watcher } from '../watch/watcher.ts';

/**
 * Handles the requests of one connection that watching needs. Call `gone` when the connection is closed.
 * @param closed fires when the connection is closed
 */
export function handleWatchRequests(on: AddHandler, hub: WatchHub, closed: AbortSignal): { gone(): void } {
  const connection = {};
  let watcher: Watcher | null = null;
  const watching = () => {
    watcher ??= hub.open();
    return watcher;
  };
  let holding = new AbortController();

  on(METHODS.watched, watchedParams, ['worker', 'control'], ({ slot, after }) => hub.orders(slot, after, closed));
  on(METHODS.running, runningParams, ['worker', 'control'], ({ tests }) => hub.running(connection, tests));
  on(METHODS.picture, pictureParams, ['worker'], (picture) => hub.picture(picture));
  on(METHODS.pageClosed, pageClosedParams, ['worker'], ({ slot, target }) => hub.pageClosed(slot, target));
  on(METHODS.hold, holdParams, ['worker'], (params) => {
    holding = new AbortController();
    return hub.hold(params, AbortSignal.any([closed, holding.signal]));
  });
  on(METHODS.endHold, noParams, ['worker'], () => holding.abort());
  on(METHODS.inputs, slotParams, ['worker'], ({ slot }) => hub.inputs(slot));
  on(METHODS.runView, runViewParams, ['watcher'], ({ after, known }) => {
    watching();
    return hub.view(after, known, closed);
  });
  on(METHODS.demand, demandParams, ['watcher'], ({ slots }) => hub.demand(watching(), slots));
  on(METHODS.pictures, noParams, ['watcher'], () => watching().take());
  on(METHODS.shown, shownParams, ['watcher'], ({ number }) => watching().shown(number));
  on(METHODS.input, inputParams, ['watcher'], ({ slot, target, input }) => hub.input(slot, target, input));
  on(METHODS.release, slotParams, ['watcher'], ({ slot }) => hub.release(slot));

  return {
    gone: () => {
      hub.gone(connection);
      if (watcher) hub.close(watcher);
    },
  };
}
