import type { Clock } from '../../common/clock.ts';
import { LeaseError } from '../../errors.ts';
import type { BrowserService } from '../../lease/browser-service.ts';
import type { BrowserFetcher } from '../browsers/browser-fetcher.ts';
import type { HeldBrowsers } from '../browsers/held-browsers.ts';
import type { PoolDirectory } from '../pools/pool-directory.ts';
import type { Log } from '../process/log.ts';
import type { Ledger } from '../recovery/ledger.ts';
import { stopLostCreates } from '../recovery/lost-creates.ts';
import type { RunPhase } from './run-phase.ts';
import type { Supplies } from './supply/supplies.ts';

/** How long the end of a run waits for requests already at the service, in ms. */
const PENDING_GRACE_MS = 6_000;
/** How long it waits for the service to confirm every end, in ms. What is not confirmed then stays in the ledger. */
const CONFIRM_GRACE_MS = 60_000;
/** How long it waits until the pools of the run are deleted, in ms. */
const DELETE_GRACE_MS = 60_000;
/** After this long the terminal says which ends are waited for, in ms. */
const SLOW_END_MS = 3_000;

/** What a run has to end. */
export interface RunEndOptions {
  phase: RunPhase;
  browsers: HeldBrowsers;
  supplies: Supplies;
  fetcher: Pick<BrowserFetcher, 'settled' | 'doubtful'>;
  pools: Pick<PoolDirectory, 'deleteOwn'>;
  client: BrowserService;
  ledger: Ledger;
  log: Log;
  clock: Clock;
}

/** Gives everything back and waits, with a bound, for the service's word on each. May be called again. */
export async function endRun(options: RunEndOptions): Promise<void> {
  const { phase, browsers, fetcher, pools, client, ledger, log, clock } = options;
  phase.close(new LeaseError('BROKER_LOST', 'The run is ending: no browser is lent any more.'));
  endHeld(options);
  const confirm = clock.after(CONFIRM_GRACE_MS, () => phase.giveUpEnds());
  const slow = clock.after(SLOW_END_MS, () => saySlowEnd(browsers, log));
  const pending = clock.after(PENDING_GRACE_MS, () => phase.giveUpAnswers());
  await fetcher.settled();
  pending.cancel();
  // What has come meanwhile.
  endHeld(options);
  await Promise.all(browsers.all.map(({ ended }) => ended));
  await stopLostCreates({ client, ledger, log, doubtful: fetcher.doubtful, signal: phase.endsOver });
  const late = new AbortController();
  const deleted = clock.after(DELETE_GRACE_MS, () => late.abort(new Error('not deleted in time')));
  for (const failure of await pools.deleteOwn(late.signal)) log.error('a pool of this run was not deleted', failure);
  deleted.cancel();
  confirm.cancel();
  slow.cancel();
}

function endHeld({ browsers, supplies }: RunEndOptions): void {
  for (const held of browsers.held) supplies.end(held, 'run-ended');
}

function saySlowEnd(browsers: HeldBrowsers, log: Log): void {
  const { ending } = browsers;
  const what = ending.length === 1 ? `browser ${ending[0]?.browser.sessionId}` : `${ending.length} browsers`;
  if (ending.length > 0) log.momentary(`waiting for the service to confirm the end of ${what}`);
}
