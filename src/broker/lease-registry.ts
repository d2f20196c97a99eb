import { randomBytes } from 'node:crypto';
import { LeaseError, OptionsError, ServiceError } from '../errors.ts';
import { acquireBrowser } from '../lease/acquire.ts';
import { endLease } from '../lease/end-lease.ts';
import { sessionNote } from '../lease/note.ts';
import { planKey } from '../options/lease-plan.ts';
import { isAmbiguous, type ServiceClient } from '../service/index.ts';
import { LIMITS } from '../service/limits.ts';
import { CapacityGate } from './capacity-gate.ts';
import { asMessage, type HeldBrowser, type Holder, heldBrowser, markEnding } from './held-browser.ts';
import type { Log } from './log.ts';
import { PoolDirectory } from './pool-directory.ts';
import type { GiveBackParams, LeasedBrowser, LeaseParams, TestUsage } from './protocol.ts';
import { RequestClock } from './request-clock.ts';
import type { EndReason, SessionRecord } from './run-record.ts';

/** What the registry needs to know of the run. */
export interface RegistryOptions {
  client: ServiceClient;
  runId: string;
  shard: { current: number; total: number } | null;
  /** Parallel workers of the run. */
  workers: number;
  log: Log;
}

/** How long a healthy browser waits for the worker that replaces its last one, in ms. */
const IDLE_MS = 5_000;
/** A browser with less than this left, in ms, is not handed on. */
const MIN_LEFT_MS = 60_000;
/** How long the end of a run waits for requests already at the service, in ms. */
const PENDING_GRACE_MS = 6_000;

/**
 * Owns every browser of a run. A browser is marked as ending before anything is awaited, so it is given back exactly
 * once; what the service did not confirm stays on the books and is said at the end.
 */
export class LeaseRegistry {
  private readonly browsers = new Map<string, HeldBrowser>();
  private readonly gate: CapacityGate;
  private readonly pools: PoolDirectory;
  private readonly pending = new Set<Promise<unknown>>();
  private readonly lostNotes = new Set<string>();
  private readonly closing = new AbortController();
  /** Tells this broker's requests from those of every other one. */
  private readonly mark = randomBytes(4).toString('hex');
  private requests = 0;
  readonly failures: string[] = [];

  constructor(private readonly options: RegistryOptions) {
    this.gate = new CapacityGate(options.client);
    this.pools = new PoolDirectory(options.client, options.runId, options.workers);
  }

  /** One line per session, in the order they were got. */
  get records(): SessionRecord[] {
    return [...this.browsers.values()].map((held) => held.record);
  }

  /** The browser for a worker: an idle one of the same plan, or a fresh one. */
  async lease(params: LeaseParams, holder: Holder, holderGone: AbortSignal): Promise<LeasedBrowser> {
    if (this.closing.signal.aborted)
      throw new LeaseError('BROKER_LOST', 'The run is ending: no browser is lent any more.');
    if (params.plan.reuse === 'run') {
      const idle = this.takeIdle(planKey(params.plan), holder);
      if (idle) return asMessage(idle);
    }
    const held = await this.tracked(this.acquire(params, holder));
    if (holderGone.aborted) this.end(held, 'worker-died');
    return asMessage(held);
  }

  /** A worker lets go of its browser; a healthy one waits a moment for the worker that comes next. */
  giveBack(params: GiveBackParams, holder: Holder): void {
    const held = this.browsers.get(params.sessionId);
    if (held?.state !== 'claimed' || held.holder !== holder) return;
    if (!params.healthy) this.end(held, 'unhealthy');
    else if (held.reuse !== 'run' || this.closing.signal.aborted) this.end(held, 'finished');
    else {
      held.state = 'idle';
      held.holder = null;
      held.idleTimer = setTimeout(() => this.end(held, 'idle'), IDLE_MS);
    }
  }

  /** A worker's connection broke: whatever it still claims is ended at once, never handed on. */
  holderGone(holder: Holder): void {
    for (const held of this.browsers.values()) {
      if (held.state === 'claimed' && held.holder === holder) this.end(held, 'worker-died');
    }
  }

  /** Adds what a test used to its session's record. */
  testUsed(usage: TestUsage): void {
    const record = this.browsers.get(usage.sessionId)?.record;
    if (!record) return;
    record.testsServed += 1;
    record.observedBytes += usage.observedBytes ?? 0;
    if (usage.infrastructureFailure) record.infrastructureFailures.push(usage.infrastructureFailure);
  }

  /** Gives everything back and waits for the service's word on each. Safe to call again. */
  async endAll(): Promise<void> {
    this.closing.abort(new LeaseError('BROKER_LOST', 'The run is ending: no browser is lent any more.'));
    this.endClaimed();
    await settledWithin(this.pending, PENDING_GRACE_MS);
    this.endClaimed();
    await Promise.all([...this.browsers.values()].map((held) => held.ended));
    await this.stopLost();
    for (const failure of await this.pools.deleteOwn())
      this.options.log.error('a pool of this run was not deleted', failure);
  }

  /** Checks that a named pool exists, before any browser is asked for. */
  async checkPool(idOrName: string): Promise<void> {
    await this.pools.resolve(idOrName);
  }

  private endClaimed(): void {
    for (const held of this.browsers.values()) {
      if (held.state === 'claimed' || held.state === 'idle') this.end(held, 'run-ended');
    }
  }

  private takeIdle(key: string, holder: Holder): HeldBrowser | null {
    for (const held of this.browsers.values()) {
      if (held.state !== 'idle' || held.planKey !== key) continue;
      if (held.lease.expiresAt && held.lease.expiresAt.getTime() - Date.now() < MIN_LEFT_MS) {
        this.end(held, 'expired');
        continue;
      }
      if (held.idleTimer) clearTimeout(held.idleTimer);
      held.idleTimer = null;
      held.state = 'claimed';
      held.holder = holder;
      held.record.workersServed += 1;
      return held;
    }
    return null;
  }

  private async acquire(params: LeaseParams, holder: Holder): Promise<HeldBrowser> {
    const { plan, project, parallelIndex: slot } = params;
    const at = new Date();
    const who = `slot ${slot} (${project || 'the default project'})`;
    const clock = new RequestClock(plan, who, this.closing.signal, this.options.log);
    const { runId, shard, client, log } = this.options;
    const request = `${this.mark}-${++this.requests}`;
    const note = sessionNote({ runId, shard, project, slot, request }, plan.session.note);
    try {
      const pool = plan.pool === null ? null : await this.pools.resolve(plan.pool);
      const lease = await acquireBrowser(plan, {
        client,
        poolId: pool?.id ?? null,
        leaseTimeoutSeconds: pool?.leaseTimeoutSeconds ?? LIMITS.leaseTimeoutSeconds.default,
        note,
        signal: clock.signal,
        onWait: (what) => clock.waits(what),
        untilCapacity: () => this.gate.wait(clock.signal),
      });
      const held = heldBrowser(lease, plan, holder, { project, parallelIndex: slot, at });
      this.browsers.set(lease.sessionId, held);
      log.info(`${who}: session ${lease.sessionId} from ${lease.source}`);
      return held;
    } catch (error) {
      if (mayHaveLeftOne(error)) this.lostNotes.add(note);
      this.failures.push(error instanceof Error ? error.message : String(error));
      throw error;
    } finally {
      clock.stop();
    }
  }

  private end(held: HeldBrowser, reason: EndReason): void {
    markEnding(held, reason);
    held.ended = this.giveBackToService(held);
  }

  private async giveBackToService(held: HeldBrowser): Promise<void> {
    const { record, lease } = held;
    const result = await endLease(this.options.client, lease);
    held.state = 'ended';
    record.endedAt = new Date().toISOString();
    record.endConfirmed = result.confirmed;
    record.bandwidthBytes = result.bandwidthBytes;
    this.gate.slotFreed();
    if (result.confirmed) this.options.log.info(`session ${lease.sessionId} ended (${record.endReason})`);
    else
      this.options.log.error(
        `session ${lease.sessionId} may still be running: its end was not confirmed`,
        result.failure,
      );
  }

  /** Creates whose answer was lost may have left a session: it is found by its note and stopped. */
  private async stopLost(): Promise<void> {
    if (this.lostNotes.size === 0) return;
    const { client, log } = this.options;
    try {
      for (const status of ['starting', 'active'] as const) {
        for await (const session of client.iterateSessions({ status, pageSize: 100 })) {
          if (session.note && this.lostNotes.has(session.note)) await client.stopSession(session.sessionId);
        }
      }
    } catch (error) {
      log.error('could not look for sessions whose create was not answered', error);
    }
  }

  private async tracked<T>(promise: Promise<T>): Promise<T> {
    this.pending.add(promise);
    try {
      return await promise;
    } finally {
      this.pending.delete(promise);
    }
  }
}

/** Whether the failed request may have made a session that nobody knows of. */
function mayHaveLeftOne(error: unknown): boolean {
  if (error instanceof ServiceError) return isAmbiguous(error);
  return !(error instanceof OptionsError);
}

async function settledWithin(promises: Iterable<Promise<unknown>>, ms: number): Promise<void> {
  const all = Promise.allSettled(promises);
  let timer: NodeJS.Timeout | undefined;
  const bound = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([all, bound]);
  clearTimeout(timer);
}
