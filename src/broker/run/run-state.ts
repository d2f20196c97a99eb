import type { PlanQueue } from '../acquire/plan-queue.ts';
import type { HeldBrowser } from '../leases/held-browser.ts';
import type { RunState } from '../rpc/protocol.ts';

/** Returns the current state of a run's browsers. */
export function runStateOf(browsers: readonly HeldBrowser[], queues: readonly PlanQueue[]): Omit<RunState, 'said'> {
  const fromPool = browsers.filter(({ browser }) => browser.source === 'pool').length;
  const inState = (state: HeldBrowser['state']) => browsers.filter((held) => held.state === state).length;
  const longest = queues.flatMap((queue) => queue.longest ?? []).sort((a, b) => b.waitedMs - a.waitedMs)[0];
  return {
    inUse: inState('claimed'),
    waiting: queues.reduce((sum, queue) => sum + queue.waiting, 0),
    ending: inState('ending'),
    fromPool,
    created: browsers.length - fromPool,
    longest: longest ?? null,
  };
}
