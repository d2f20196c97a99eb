import { type Clock, systemClock } from '../../common/clock.ts';
import { endsTheRun } from '../../providers/failure-policy.ts';
import type { BrowserProvider, RunPools } from '../../providers/port.ts';
import type { RunRecorder } from '../../record/run-recorder.ts';
import { BrowserOrders, type BrowserOrdersOptions } from '../acquire/browser-orders.ts';
import { BrowserQueue } from '../acquire/browser-queue.ts';
import { RequestScheduler } from '../acquire/requests/request-scheduler.ts';
import { WaitNotices } from '../acquire/wait-notices.ts';
import { HeldBrowsers } from '../browsers/held-browser.ts';
import type { RunIdentity } from '../browsers/session-note.ts';
import { BrowserEnder } from '../leases/browser-ender.ts';
import { SessionNotes, startHeartbeat } from '../leases/session-notes.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Log } from '../log/log.ts';
import type { LeaseServiceOptions } from '../server/lease-service.ts';
import { endRun, RunPhase } from './run-end.ts';

export interface LeasingOptions {
  provider: BrowserProvider;
  run: RunIdentity;
  pools: RunPools;
  /** How many browsers may run at the same time; null: unknown. */
  limit: number | null;
  ledger: Ledger;
  log: Log;
  refusals: BrowserOrdersOptions['refusals'];
  /** Fires with the reason if the service ends before the run; if not given, it never does. */
  serviceGone?: AbortSignal | undefined;
  recorder: Pick<RunRecorder, 'add' | 'changed' | 'leaseFailed'>;
  /** How long to keep an idle browser, in ms. Default: a worker's start. */
  idleMs?: number | undefined;
  /** See `outwaits` of the queue. */
  outwaits?: boolean | undefined;
  /** Default: the machine's clock. */
  clock?: Clock;
  /** Source of jitter, from 0 up to 1. Default `Math.random`. */
  random?(): number;
}

/** The browsers of a run. */
export interface Leasing {
  /** What leases them to workers, but for the workers' projects. */
  parts: Omit<LeaseServiceOptions, 'projects'>;
  /** Gives every browser back and waits, with a deadline, until the service confirms each end. Safe to call again. */
  endAll(): Promise<void>;
}

/** Creates the parts that lease the browsers of a run, each after the parts it depends on. */
export function createLeasing(options: LeasingOptions): Leasing {
  const { provider, run, pools, limit, ledger, log, refusals, recorder } = options;
  const { clock = systemClock, random = Math.random, serviceGone = new AbortController().signal } = options;
  const browsers = new HeldBrowsers();
  const phase = new RunPhase();
  const { closing } = phase;
  serviceGone.addEventListener('abort', () => {
    log.error('no browser is leased any more', serviceGone.reason);
    phase.close(serviceGone.reason);
  });
  const scheduler = new RequestScheduler({
    provider,
    runId: run.runId,
    limit,
    held: () => browsers.held.length,
    owns: (sessionId) => browsers.get(sessionId) !== null,
    clock,
    random,
  });
  closing.addEventListener('abort', () => scheduler.close());
  const orders = new BrowserOrders({
    provider,
    run,
    scheduler,
    pools,
    ledger,
    log,
    refusals,
    clock,
    random,
    closes: closing,
    ends: phase.responsesOver,
    onCame: (held) => {
      browsers.add(held);
      recorder.add(held.record);
    },
    onUnused: (held, reason) => {
      browsers.add(held);
      recorder.add(held.record);
      ender.end(held, reason);
    },
    onFailed: (error) => {
      if (endsTheRun(error)) phase.close(error);
    },
  });
  const ender = new BrowserEnder({
    provider,
    ledger,
    log,
    clock,
    ends: phase.endsOver,
    serviceGone,
    onEnded: (confirmed) => {
      if (confirmed) scheduler.slotFreed();
      recorder.changed();
    },
  });
  const notices = new WaitNotices(log, clock);
  const queue = new BrowserQueue({
    orders,
    ender,
    notices,
    closing,
    clock,
    idleMs: options.idleMs,
    outwaits: options.outwaits,
  });
  const notes = new SessionNotes(provider.notes, run);
  const stopHeartbeat = startHeartbeat({ ledger, browsers, notes, clock });
  return {
    parts: { browsers, queue, notes, recorder, closing, clock },
    endAll: async () => {
      stopHeartbeat();
      notices.stop();
      await endRun({ phase, browsers, queue, orders, pools, provider, log, clock });
    },
  };
}
