import type { HeldBrowser } from '../browsers/held-browser.ts';
import type { RunState } from '../rpc/protocol.ts';
import type { Supply } from './supply/supply.ts';

/** What becomes of a run's browsers at the moment. */
export function runStateOf(browsers: readonly HeldBrowser[], supplies: readonly Supply[]): Omit<RunState, 'said'> {
  const fromPool = browsers.filter(({ browser }) => browser.source === 'pool').length;
  const inState = (state: HeldBrowser['state']) => browsers.filter((held) => held.state === state).length;
  const longest = supplies.flatMap((supply) => supply.longest ?? []).sort((a, b) => b.waitedMs - a.waitedMs)[0];
  return {
    inUse: inState('claimed'),
    waiting: supplies.reduce((sum, supply) => sum + supply.waiting, 0),
    ending: inState('ending'),
    fromPool,
    created: browsers.length - fromPool,
    longest: longest ?? null,
  };
}
