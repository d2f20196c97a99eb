import { type Clock, systemClock, type Timer } from '../../common/clock.ts';
import type { PageInput } from '../../common/page/page-input.ts';
import { pause } from '../../common/pause.ts';
import { redactText } from '../../redact.ts';
import type { RunOverview } from '../feature.ts';
import type { Demand, HoldParams, HubView, PictureParams, RunningTests, RunViewReply, SlotInput } from './calls.ts';
import { FinishedTests } from './finished-tests.ts';
import { Latest } from './latest.ts';
import type { WatchOrders } from './orders.ts';
import { SlotHold } from './slot-hold.ts';
import type { PageView, RunView, SlotView } from './view.ts';
import { Watcher } from './watcher.ts';

/** The part of a run that is known before it begins. */
export type RunHead = Pick<RunView, 'name' | 'runner'>;

type Connection = object;
type Orders = Omit<WatchOrders, 'number'>;

/** Interval between two updates for watchers, in ms. */
const TICK_MS = 500;
/** How long the watchers may take to show a picture, in ms: the worker goes on without them then. */
const SHOWN_MS = 10_000;

/**
 * Connects a run's workers with its watchers. Workers and the runner keep a request open, which gets its response when
 * a watcher comes: without watchers, nothing is sent or computed.
 */
export class WatchHub {
  readonly #head: RunHead;
  readonly #clock: Clock;
  readonly #startedAt: number;
  #run: RunOverview | null = null;
  #endedAt: number | null = null;
  readonly #watchers = new Set<Watcher>();
  readonly #running = new Map<Connection, RunningTests>();
  readonly #holds = new Map<number, SlotHold>();
  /** By slot, then by target: the newest picture of each page. */
  readonly #pages = new Map<number, Map<string, PictureParams>>();
  readonly #orders = new Map<number | null, Latest<Orders>>();
  readonly #view: Latest<HubView>;
  readonly #finished = new FinishedTests((text) => this.#masked(text));
  #pictureBytes = 0;
  #timer: Timer | null = null;

  constructor(head: RunHead, clock: Clock = systemClock) {
    this.#head = head;
    this.#clock = clock;
    this.#startedAt = clock.now();
    this.#view = new Latest(this.#present());
  }

  begin(run: RunOverview): void {
    this.#run = run;
    this.#update();
  }

  /** The run is over: watchers get the last state. */
  end(): void {
    this.#endedAt = this.#clock.now();
    this.#update();
  }

  /** Adds a watcher. */
  open(): Watcher {
    const watcher = new Watcher();
    this.#watchers.add(watcher);
    this.#updateOrders();
    this.#update();
    this.#tick();
    return watcher;
  }

  close(watcher: Watcher): void {
    this.#watchers.delete(watcher);
    watcher.gone();
    this.#updateOrders();
  }

  demand(watcher: Watcher, slots: Demand): void {
    const added = slots.filter(({ slot }) => !watcher.demand.has(slot));
    watcher.wants(slots);
    this.#updateOrders();
    // A page that does not change has no further picture.
    for (const { slot } of added) {
      for (const picture of this.#pages.get(slot)?.values() ?? []) void watcher.offer(picture);
    }
  }

  /** The state as soon as it is newer, with the tests that have ended since. @param known how many of them are known */
  async view(after: number, known: number, signal: AbortSignal): Promise<RunViewReply> {
    const { number, value } = await this.#view.after(after, signal);
    return { number, view: value, finished: this.#finished.after(known) };
  }

  /** The demand for a slot, once it has another number than `after`; null: for the run. */
  async orders(slot: number | null, after: number, signal: AbortSignal): Promise<WatchOrders> {
    const latest = this.#orders.get(slot) ?? new Latest(this.#ordersFor(slot));
    this.#orders.set(slot, latest);
    const { number, value } = await latest.after(after, signal);
    return { number, ...value };
  }

  running(connection: Connection, tests: RunningTests): void {
    // Steps follow each other fast: the next comparison is soon enough.
    this.#running.set(connection, tests);
  }

  /** A worker or the runner is gone. */
  gone(connection: Connection): void {
    if (this.#running.delete(connection)) this.#update();
  }

  /**
   * Resolves when one of the watchers that want the picture has shown it. Each other one gets the newest picture as
   * soon as it is ready.
   */
  async picture(picture: PictureParams): Promise<void> {
    const { slot, target, bytes } = picture;
    this.#pictureBytes += bytes;
    const receivers = [...this.#watchers].filter(({ demand }) => demand.has(slot));
    // It was on its way when the last one left.
    if (receivers.length === 0) return;
    const shown = { ...picture, url: this.#masked(picture.url) };
    const pages = this.#pages.get(slot) ?? new Map<string, PictureParams>();
    this.#pages.set(slot, pages.set(target, shown));
    const stop = new AbortController();
    await Promise.race([
      ...receivers.map((watcher) => watcher.offer(shown)),
      pause(SHOWN_MS, stop.signal, this.#clock).catch(() => undefined),
    ]);
    stop.abort();
  }

  pageClosed(slot: number, target: string): void {
    this.#pages.get(slot)?.delete(target);
    for (const watcher of this.#watchers) watcher.pageClosed(slot, target);
  }

  /** Resolves when the hold is over. @param signal ends it */
  async hold(params: HoldParams, signal: AbortSignal): Promise<void> {
    const { slot } = params;
    this.#holds.get(slot)?.end();
    const hold = new SlotHold({ ...params, reason: this.#masked(params.reason) });
    this.#holds.set(slot, hold);
    const end = () => hold.end();
    signal.addEventListener('abort', end);
    this.#update();
    await hold.over;
    signal.removeEventListener('abort', end);
    if (this.#holds.get(slot) === hold) this.#holds.delete(slot);
    this.#update();
  }

  /** Ends a hold, if there is one. */
  release(slot: number): void {
    this.#holds.get(slot)?.end();
  }

  input(slot: number, target: string, input: PageInput): void {
    this.#holds.get(slot)?.add({ target, input });
  }

  async inputs(slot: number): Promise<SlotInput[] | null> {
    return (await this.#holds.get(slot)?.takeInputs()) ?? null;
  }

  #tick(): void {
    this.#timer?.cancel();
    if (this.#watchers.size === 0) return;
    this.#timer = this.#clock.after(TICK_MS, () => {
      this.#update();
      this.#tick();
    });
    this.#timer.unref();
  }

  #updateOrders(): void {
    for (const [slot, latest] of this.#orders) {
      const orders = this.#ordersFor(slot);
      latest.set(orders);
      if (slot !== null && orders.pictures === null) this.#pages.delete(slot);
    }
  }

  #ordersFor(slot: number | null): Orders {
    const sizes = slot === null ? [] : [...this.#watchers].flatMap(({ demand }) => demand.get(slot) ?? []);
    const pictures = sizes.includes('large') ? 'large' : (sizes[0] ?? null);
    return { isWatched: this.#watchers.size > 0, pictures };
  }

  #update(): void {
    if (this.#watchers.size > 0) this.#view.set(this.#present());
  }

  #present(): HubView {
    this.#finished.update(this.#run?.tests() ?? []);
    return {
      ...this.#head,
      startedAt: this.#startedAt,
      endedAt: this.#endedAt,
      slots: this.#slots(),
      ...this.#finished.counts,
      pictureBytes: this.#pictureBytes,
    };
  }

  #slots(): SlotView[] {
    const slots = new Map(this.#run?.slots().map((state) => [state.slot, state]));
    const running = new Map([...this.#running.values()].flat().map((test) => [test.slot, test]));
    const numbers = new Set([...slots.keys(), ...running.keys(), ...this.#holds.keys()]);
    return [...numbers]
      .sort((a, b) => a - b)
      .map((slot) => {
        const state = slots.get(slot) ?? { slot, sessionId: null, waitsFor: null, since: this.#startedAt };
        const { slot: _slot, ...test } = running.get(slot) ?? { slot };
        return {
          ...state,
          waitsFor: state.waitsFor === null ? null : this.#masked(state.waitsFor),
          test: 'id' in test ? this.#maskedTest(test) : null,
          pages: state.sessionId === null ? [] : this.#pagesOf(slot),
          hold: this.#holds.get(slot)?.view ?? null,
        };
      });
  }

  #pagesOf(slot: number): PageView[] {
    return [...(this.#pages.get(slot)?.values() ?? [])].map(({ target, url }) => ({ target, url }));
  }

  #maskedTest<T extends { title: string; step: string | null }>(test: T): T {
    return {
      ...test,
      title: this.#masked(test.title),
      step: test.step === null ? null : this.#masked(test.step),
    };
  }

  #masked(text: string): string {
    return redactText(text, this.#run?.secrets ?? []);
  }
}
