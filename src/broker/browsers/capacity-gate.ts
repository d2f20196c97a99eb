import type { Clock } from '../../common/clock.ts';
import { pause } from '../../common/pause.ts';
import { ServiceError } from '../../errors.ts';
import type { BrowserService } from '../../lease/browser-service.ts';
import { listRunning, type Running } from '../../lease/list-running.ts';
import { type Standing, WaitingLine } from '../../service/http/waiting-line.ts';
import { endsTheRun } from './ends-the-run.ts';

/** How often the session list is looked at while requests are parked, in ms; up to half as much is added at random. */
const WATCH_INTERVAL_MS = 4_000;
/** A run that holds the whole limit lets others go first by this much, in ms; one that holds nothing does not wait. */
const POLITENESS_MS = 4_000;

/** Whose gate it is. */
export interface GateOptions {
  client: Pick<BrowserService, 'iterateSessions'>;
  runId: string;
  /** `plan.concurrent_browsers`; null where it is not known. */
  limit: number | null;
  /** How many browsers this broker holds. */
  held(): number;
  /** Whether this broker got that session: it tells the end of those itself. */
  owns(sessionId: string): boolean;
  clock: Clock;
  /** From 0 up to 1. */
  random(): number;
}

/** One request that takes a slot of the workspace's limit. */
export interface Request {
  signal: AbortSignal;
  /** Whether no worker waits for its browser now: those for whom one does go first. */
  yields(): boolean;
  /** Told whether it is parked from now on, or at the service. */
  onParked(parked: boolean): void;
}

/**
 * Parks requests that the service refused with `403 Session limit reached`. It may be asked again after a session has
 * ended, and never in a loop (section 7 of the service document). So one of the parked goes on for each browser of this
 * run that ends, and for each other session that disappears from the list. The list does not show everything that
 * counts (warm browsers), so that it seems to have room is a reason to ask only once: one may have ended before the
 * first look.
 * While some are parked, new ones join the line without asking.
 */
export class CapacityGate {
  readonly #line = new WaitingLine();
  #watching: AbortController | null = null;
  #last: Running | null = null;
  /** How many sessions the list showed when the service refused although it had room; null: it never did. */
  #refusedAt: number | null = null;
  /** Set for the request that is let go only because the list has room: for how many. */
  #probe = 0;
  /** Whether a request was refused since the last look: a session may have ended between the two, unseen. */
  #refusedSinceLook = false;
  /** Requests at the service. */
  #asking = 0;
  /** Ends of this run's browsers, counted. */
  #ends = 0;
  /** Those of them that let nobody go, while requests were at the service that were sent before. */
  #spareEnds: number[] = [];

  readonly #options: GateOptions;

  constructor(options: GateOptions) {
    this.#options = options;
  }

  /** What is known of the limit, for a message. */
  async describe(signal: AbortSignal): Promise<string> {
    const running = (await this.#look(signal)) ?? this.#last;
    const { limit: known } = this.#options;
    const limit = known === null ? 'its concurrent-browser limit' : `its limit of ${known} browsers`;
    return running
      ? `the workspace is at ${limit}, and ${running.ids.size} run: ${running.holders}`
      : `the workspace is at ${limit}`;
  }

  /**
   * Sends a request, at once while there may be room, else when it is its turn; again after each refusal for the limit,
   * once there is a reason to. Throws the request's own failure, or the signal's reason while it is parked.
   */
  async ask<T>(send: () => Promise<T>, request: Request): Promise<T> {
    const { signal, yields } = request;
    const { limit, held } = this.#options;
    const full = limit !== null && held() >= limit;
    let parked = full || this.#line.length > 0;
    let standing: Standing = { yields };
    for (;;) {
      if (parked) {
        request.onParked(true);
        await this.#park(standing, signal);
        standing = { yields, first: true };
      }
      const probe = this.#probe;
      this.#probe = 0;
      request.onParked(false);
      let outcome: Outcome<T>;
      try {
        outcome = await this.#send(send);
      } catch (error) {
        // What it was let go for is still there.
        if (probe > 0 && !endsTheRun(error)) this.#letGo(probe);
        else if (parked && !endsTheRun(error)) this.#line.next();
        throw error;
      }
      if ('answer' in outcome) {
        this.#refusedAt = null;
        this.#letGo(probe - 1);
        return outcome.answer;
      }
      this.#refusedSinceLook = true;
      if (probe > 0) this.#refusedAt = this.#last?.ids.size ?? null;
      parked = !outcome.endedSince;
    }
  }

  /** A browser of this run has ended: its slot is free for the request that waits longest. */
  slotFreed(): void {
    this.#ends += 1;
    if (this.#line.length > 0) this.#line.next();
    else if (this.#asking > 0) this.#spareEnds.push(this.#ends);
  }

  async #send<T>(send: () => Promise<T>): Promise<Outcome<T>> {
    const before = this.#ends;
    this.#asking += 1;
    try {
      return { answer: await send() };
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== 'SERVICE_LIMIT_REACHED') throw error;
      // Each end is a reason for one request.
      const at = this.#spareEnds.findIndex((end) => end > before);
      if (at >= 0) this.#spareEnds.splice(at, 1);
      return { endedSince: at >= 0 };
    } finally {
      this.#asking -= 1;
      // Who asks from now on asks after them.
      if (this.#asking === 0) this.#spareEnds = [];
    }
  }

  async #park(standing: Standing, signal: AbortSignal): Promise<void> {
    const turn = this.#line.join(signal, standing);
    if (!this.#watching) void this.#watch();
    try {
      await turn;
    } finally {
      if (this.#line.length === 0) this.#stopWatching();
    }
    if (!signal.aborted) return;
    this.#line.next();
    throw signal.reason;
  }

  #letGo(probe: number): void {
    if (probe <= 0 || this.#line.length === 0) return;
    this.#probe = probe;
    this.#line.next();
  }

  #stopWatching(): void {
    this.#watching?.abort(new Error('nobody waits'));
    this.#watching = null;
  }

  async #watch(): Promise<void> {
    const watching = new AbortController();
    this.#watching = watching;
    const { signal } = watching;
    const { clock, random } = this.#options;
    let before: Running | null = null;
    while (!signal.aborted) {
      try {
        const seen = await this.#look(signal);
        if (seen) await this.#wake(before, seen, signal);
        before = seen ?? before;
        await pause(WATCH_INTERVAL_MS * (1 + random() / 2), signal, clock);
      } catch {
        // Nobody waits any more: the signal says so, and ends the loop.
      }
    }
  }

  /** Whoever holds many browsers waits a little before it asks, so that a run that has none comes first. */
  async #wake(before: Running | null, seen: Running, signal: AbortSignal): Promise<void> {
    const { limit: known, held, owns, clock, random } = this.#options;
    const limit = known ?? Number.POSITIVE_INFINITY;
    const room = limit - seen.ids.size;
    const ended = before ? [...before.ids].filter((id) => !seen.ids.has(id) && !owns(id)).length : 0;
    const free = Math.min(room, ended);
    const first = before === null || this.#refusedSinceLook;
    this.#refusedSinceLook = false;
    const maybe = !first || free > 0 ? 0 : Math.min(limit, this.#refusedAt ?? Number.POSITIVE_INFINITY) - seen.ids.size;
    if (free <= 0 && maybe <= 0) return;
    const share = known ? Math.min(1, held() / known) : 0;
    await pause(POLITENESS_MS * share + random() * 250, signal, clock);
    for (let n = 0; n < free; n += 1) this.#line.next();
    this.#letGo(maybe);
  }

  /** Null when the list could not be read this time. */
  async #look(signal: AbortSignal): Promise<Running | null> {
    const { client, runId } = this.#options;
    const seen = await listRunning(client, runId, signal);
    this.#last = seen ?? this.#last;
    return seen;
  }
}

/** Of one request: its answer; or it was refused for the limit, and whether a browser of this run has ended since it was sent. */
type Outcome<T> = { answer: T } | { endedSince: boolean };
