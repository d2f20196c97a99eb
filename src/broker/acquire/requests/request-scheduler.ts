import type { Timer } from '../../../common/clock.ts';
import { smallest } from '../../../common/numbers/extremes.ts';
import { ServiceError } from '../../../errors.ts';
import { backoffDelay, endsTheRun, type NextStep } from '../../../providers/failure-policy.ts';
import { SurplusOrder } from '../pending-orders.ts';
import { Backoff } from './backoff.ts';
import { CapacityWatch, type WatchOptions } from './capacity-watch.ts';

/** Priorities: a waiting worker first, then a worker that is starting or prefetches. */
export const PRIORITY = { needed: 0, early: 1 } as const;
export type Priority = (typeof PRIORITY)[keyof typeof PRIORITY];

/** What a request waits for: the service's response or, with no request at the service, the limit or the pool. */
export type Waiting = 'response' | 'capacity' | 'pool';

/** One request for a browser, until it is granted or fails. */
export interface ScheduledRequest<T> {
  /** Aborts it in any state. */
  signal: AbortSignal;
  priority(): Priority;
  onWait(what: Waiting): void;
  /** Sends one request to the service. */
  send(): Promise<T>;
  /** Decides the next step after a failure. */
  next(error: ServiceError): NextStep;
  /** Called before a retry, with its delay in ms. */
  onAgain(error: ServiceError, delayMs: number): void;
}

/** The state of a request. */
type Place =
  /** Until a session ends. */
  | { at: 'limit' }
  /** Until both the shared backoff and the request's own delay are over, in ms since the epoch. */
  | { at: 'queue'; notBefore: number }
  | { at: 'service' };

interface Entry {
  /** Number in order of arrival. */
  readonly number: number;
  readonly request: Pick<ScheduledRequest<unknown>, 'signal' | 'priority'>;
  place: Place;
  /**
   * The reason to leave the limit. 0: a session ended; higher: the list has room for that many; null: none. If the
   * request ends without using it, or polls its pool, the next parked request gets it.
   */
  pass: number | null;
  go(): void;
  giveUp(reason: unknown): void;
}

/**
 * The only place that sends requests for browsers to the service. It decides when each one is sent and retried.
 *
 * A refusal at the limit parks a request until a session ends; it is never retried in a loop (section 7 of the service
 * document). One parked request continues for each browser of this run that ends, and for each other session that
 * disappears from the list. While requests are parked, new ones join them without asking the service. While the service
 * is overloaded, all requests wait on one {@link Backoff}.
 */
export class RequestScheduler {
  /** The waiting requests, oldest first. */
  readonly #waiting: Entry[] = [];
  #entries = 0;
  readonly #backoff: Backoff;
  readonly #watch: CapacityWatch;
  #timer: Timer | null = null;
  /** The requests at the service. */
  readonly #asking = new Set<Entry>();
  #isClosed = false;
  /** Number of this run's browsers that have ended. */
  #ends = 0;
  /** Ends that released no parked request while earlier requests were still at the service. */
  #spareEnds: number[] = [];
  readonly #options: WatchOptions;

  constructor(options: WatchOptions) {
    this.#options = options;
    this.#backoff = new Backoff(options.clock);
    this.#watch = new CapacityWatch(options);
  }

  /** Describes the limit and what uses it, for a message. */
  async describeLimit(signal: AbortSignal): Promise<string> {
    return await this.#watch.describe(signal);
  }

  /**
   * Sends a request when it is its turn, and retries it as its failures allow. Throws its last failure or its signal's
   * reason.
   */
  async ask<T>(request: ScheduledRequest<T>): Promise<T> {
    const { signal, onWait } = request;
    const place: Place = this.#isFull() ? { at: 'limit' } : { at: 'queue', notBefore: 0 };
    const entry: Entry = { request, number: ++this.#entries, place, pass: null, go: ignored, giveUp: ignored };
    for (;;) {
      if (entry.place.at === 'limit') onWait('capacity');
      await this.#turn(entry, signal);
      onWait('response');
      const outcome = await this.#send(entry, request);
      if ('response' in outcome) return outcome.response;
      entry.place = outcome.place;
      if (outcome.waitsFor) onWait(outcome.waitsFor);
    }
  }

  /** Sends nothing any more and rejects the waiting requests. */
  close(): void {
    this.#isClosed = true;
    for (const entry of [...this.#waiting]) entry.giveUp(new SurplusOrder());
  }

  /** A browser of this run has ended: the first parked request may use its place. */
  slotFreed(): void {
    this.#ends += 1;
    if (this.#isParked) this.#letGo(0);
    else if (this.#asking.size > 0) this.#spareEnds.push(this.#ends);
  }

  #isFull(): boolean {
    const { limit, held } = this.#options;
    return this.#isParked || (limit !== null && held() >= limit);
  }

  get #isParked(): boolean {
    return this.#waiting.some(({ place }) => place.at === 'limit');
  }

  /** Waits for a request's turn and takes it. */
  #turn(entry: Entry, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const onAbort = () => entry.giveUp(signal.reason);
      entry.giveUp = (reason) => {
        signal.removeEventListener('abort', onAbort);
        this.#leave(entry);
        this.#handOn(entry);
        this.#admit();
        reject(reason);
      };
      entry.go = () => {
        signal.removeEventListener('abort', onAbort);
        resolve();
      };
      if (this.#isClosed) return entry.giveUp(new SurplusOrder());
      if (signal.aborted) return onAbort();
      signal.addEventListener('abort', onAbort);
      const at = this.#waiting.findLastIndex(({ number }) => number < entry.number);
      this.#waiting.splice(at + 1, 0, entry);
      if (entry.place.at === 'limit') this.#watch.start((ended, maybe) => this.#hasRoom(ended, maybe));
      this.#admit();
    });
  }

  async #send<T>(entry: Entry, request: ScheduledRequest<T>): Promise<Outcome<T>> {
    const { random, clock } = this.#options;
    const before = this.#ends;
    let overload: number | null = null;
    this.#asking.add(entry);
    try {
      const response = await request.send();
      this.#watch.granted();
      if (entry.pass !== null && entry.pass > 1) this.#letGo(entry.pass - 1);
      return { response };
    } catch (error) {
      if (!(error instanceof ServiceError)) {
        this.#handOn(entry);
        throw error;
      }
      overload = backoffDelay(error, this.#backoff.nextRefusal, random);
      const step = request.next(error);
      switch (step.do) {
        case 'fail':
          if (endsTheRun(error)) this.close();
          this.#handOn(entry);
          throw error;
        case 'park':
          return { place: this.#refused(entry, before) };
        case 'back-off':
          request.onAgain(error, overload ?? 0);
          return { place: { at: 'queue', notBefore: 0 } };
        case 'retry':
          // A pool may stay empty for as long as the run takes.
          if (step.waitsFor === 'pool') this.#handOn(entry);
          request.onAgain(error, step.delayMs);
          return { place: { at: 'queue', notBefore: clock.now() + step.delayMs }, waitsFor: step.waitsFor };
        default:
          return { place: { at: 'queue', notBefore: 0 } };
      }
    } finally {
      this.#asking.delete(entry);
      // All later requests are sent after these ends.
      if (this.#asking.size === 0) this.#spareEnds = [];
      this.#backoff.end(overload);
      this.#admit();
    }
  }

  /**
   * Returns where a request waits after a refusal because of the limit.
   * @param before number of this run's ended browsers when the request was sent
   */
  #refused(entry: Entry, before: number): Place {
    this.#watch.refused((entry.pass ?? 0) > 0);
    entry.pass = null;
    // Each end justifies one request.
    const at = this.#spareEnds.findIndex((end) => end > before);
    if (at < 0) return { at: 'limit' };
    this.#spareEnds.splice(at, 1);
    entry.pass = 0;
    return { at: 'queue', notBefore: 0 };
  }

  /** Releases the first parked request. @param pass see {@link Entry.pass} */
  #letGo(pass: number): void {
    const next = this.#first(({ place }) => place.at === 'limit');
    if (!next) return;
    next.pass = pass;
    next.place = { at: 'queue', notBefore: 0 };
    if (!this.#isParked) this.#watch.stop();
    this.#admit();
  }

  #handOn(entry: Entry): void {
    const { pass } = entry;
    entry.pass = null;
    if (pass !== null) this.#letGo(pass);
  }

  #hasRoom(ended: number, maybe: number): void {
    for (let n = 0; n < ended; n += 1) this.#letGo(0);
    // A second one waits for the outcome of the first.
    const isTrying = [...this.#waiting, ...this.#asking].some(({ pass }) => pass !== null && pass > 0);
    if (maybe > 0 && !isTrying) this.#letGo(maybe);
  }

  #leave(entry: Entry): void {
    const at = this.#waiting.indexOf(entry);
    if (at >= 0) this.#waiting.splice(at, 1);
    if (!this.#isParked) this.#watch.stop();
  }

  /** Sends every request whose turn it is, and sets a timer for the end of the next wait. */
  #admit(): void {
    // Read the clock once: with two reads, a wait that ends between them would get no timer.
    const now = this.#options.clock.now();
    const isDue = ({ place }: Entry) => place.at === 'queue' && place.notBefore <= now;
    while (!this.#isClosed && this.#backoff.isOpen(now)) {
      const next = this.#first(isDue);
      if (!next) break;
      this.#leave(next);
      next.place = { at: 'service' };
      this.#backoff.begin();
      next.go();
    }
    this.#timer?.cancel();
    this.#timer = null;
    const { notBefore } = this.#backoff;
    const moments = this.#waiting.flatMap(({ place }) =>
      place.at === 'queue' ? Math.max(place.notBefore, notBefore) : [],
    );
    const wait = smallest(moments.filter((moment) => moment > now)) - now;
    // Without a timer, a request at the service is pending; its end calls this again.
    if (Number.isFinite(wait)) this.#timer = this.#options.clock.after(wait, () => this.#admit());
  }

  /** Returns the oldest of the waiting requests with the highest priority. */
  #first(among: (entry: Entry) => boolean): Entry | undefined {
    let first: { entry: Entry; priority: Priority } | undefined;
    for (const entry of this.#waiting) {
      if (!among(entry)) continue;
      const priority = entry.request.priority();
      if (first === undefined || priority < first.priority) first = { entry, priority };
      if (priority === PRIORITY.needed) break;
    }
    return first?.entry;
  }
}

const ignored = () => undefined;

/** The outcome of one request: its response, or where it waits now and, if that changed, for what. */
type Outcome<T> = { response: T } | { place: Place; waitsFor?: Waiting };
