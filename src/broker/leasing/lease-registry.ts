import { type Clock, systemClock } from '../../common/clock.ts';
import type { BrowserService } from '../../lease/browser-service.ts';
import type { RunRecorder } from '../../record/run-recorder.ts';
import { BrowserEnder } from '../browsers/browser-ender.ts';
import { BrowserFetcher } from '../browsers/browser-fetcher.ts';
import { CapacityGate } from '../browsers/capacity-gate.ts';
import { endsTheRun } from '../browsers/ends-the-run.ts';
import { HeldBrowsers } from '../browsers/held-browsers.ts';
import type { RunIdentity } from '../browsers/run-identity.ts';
import { SessionNotes, startHeartbeat } from '../browsers/session-notes.ts';
import type { PoolDirectory } from '../pools/pool-directory.ts';
import type { Log } from '../process/log.ts';
import type { Ledger } from '../recovery/ledger.ts';
import type { RunState } from '../rpc/protocol.ts';
import { BrowserReturns } from './browser-returns.ts';
import { Lender } from './lender.ts';
import type { Projects } from './projects.ts';
import { endRun } from './run-end.ts';
import { RunPhase } from './run-phase.ts';
import { runStateOf } from './run-state.ts';
import { Supplies } from './supply/supplies.ts';
import { WaitNotices } from './wait-notices.ts';

/** What lending is made of. */
export interface RegistryOptions {
  client: BrowserService;
  run: RunIdentity;
  projects: Projects;
  pools: PoolDirectory;
  /** `plan.concurrent_browsers` of the workspace; null where it is not known. */
  limit: number | null;
  ledger: Ledger;
  log: Log;
  /** What the service said last instead of giving a browser, if that was lately. */
  trouble(): string | null;
  /** Fires with the reason when the service has ended before the run; never unless given. */
  serviceGone?: AbortSignal | undefined;
  recorder: Pick<RunRecorder, 'add' | 'changed' | 'leaseFailed'>;
  /** Bound on an idle browser, in ms, while it is not known which tests are to come. Default: a worker's start. */
  idleMs?: number | undefined;
  /** Default: the machine's. */
  clock?: Clock;
  /** Source of jitter, from 0 up to 1. Default `Math.random`. */
  random?(): number;
}

/** What the broker's server talks to: who asks for a browser, who gives one back, and the end of the run. */
export interface LeaseRegistry
  extends Pick<Lender, 'lease' | 'cancelAhead' | 'prefetch' | 'remaining'>,
    Pick<BrowserReturns, 'giveBack' | 'holderGone'> {
  /** What becomes of the browsers at the moment. */
  state(): Omit<RunState, 'said'>;
  /** Gives everything back and waits, with a bound, for the service's word on each. Safe to call again. */
  endAll(): Promise<void>;
}

/** Puts together the parts that lend the browsers of a run. Each is made with those it needs, which come before it. */
export function createRegistry(options: RegistryOptions): LeaseRegistry {
  const { client, run, projects, pools, limit, ledger, log, trouble, recorder } = options;
  const { clock = systemClock, random = Math.random, serviceGone = new AbortController().signal } = options;
  const browsers = new HeldBrowsers();
  const phase = new RunPhase();
  const { closing } = phase;
  serviceGone.addEventListener('abort', () => {
    log.error('no browser is lent any more', serviceGone.reason);
    phase.close(serviceGone.reason);
  });
  const gate = new CapacityGate({
    client,
    runId: run.runId,
    limit,
    held: () => browsers.held.length,
    owns: (sessionId) => browsers.get(sessionId) !== null,
    clock,
    random,
  });
  const fetcher = new BrowserFetcher({
    client,
    run,
    gate,
    pools,
    ledger,
    log,
    trouble,
    clock,
    closes: closing,
    ends: phase.answersOver,
    onFetched: (held) => {
      browsers.add(held);
      recorder.add(held.record);
    },
    onFailed: (error) => {
      if (endsTheRun(error)) phase.close(error);
    },
  });
  const ender = new BrowserEnder({
    client,
    ledger,
    log,
    clock,
    ends: phase.endsOver,
    serviceGone,
    onEnded: (confirmed) => {
      if (confirmed) gate.slotFreed();
      recorder.changed();
    },
  });
  const supplies = new Supplies({ fetcher, ender, recorder, closing, clock, idleMs: options.idleMs });
  const notes = new SessionNotes(client, run);
  const stopHeartbeat = startHeartbeat({ ledger, browsers, notes, clock });
  const notices = new WaitNotices(log, clock);
  const lender = new Lender({ projects, supplies, notes, notices, recorder, closing, clock });
  const returns = new BrowserReturns({ browsers, supplies, closing, clock });
  return {
    lease: (params, holder, holderGone) => lender.lease(params, holder, holderGone),
    cancelAhead: (holder) => lender.cancelAhead(holder),
    prefetch: (params) => lender.prefetch(params),
    remaining: (projects) => lender.remaining(projects),
    giveBack: (params, holder) => returns.giveBack(params, holder),
    holderGone: (holder) => returns.holderGone(holder),
    state: () => runStateOf(browsers.all, supplies.all),
    endAll: async () => {
      stopHeartbeat();
      notices.stop();
      await endRun({ phase, browsers, supplies, fetcher, pools, client, ledger, log, clock });
    },
  };
}
