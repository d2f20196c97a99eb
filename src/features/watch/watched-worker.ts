import type { Ask } from '../../broker/rpc/call-table.ts';
import { type OrderCalls, orderCallsOver, type WatchOrders } from '../../broker/watch/orders.ts';
import type { FeatureTest, FeatureWorker, WorkerFeature } from '../feature.ts';
import type { RunningTest, ShownWorker, WatchableConnection } from './shown-worker.ts';

type RunningTestFacts = Pick<FeatureTest, 'key' | 'project' | 'startedAt' | 'titles'>;

const UNWATCHED: WatchOrders = { number: 0, isWatched: false, pictures: null };

export const start = ({ broker, slot }: FeatureWorker): WorkerFeature => new WatchedWorker(broker.ask, slot);

/** Shows the pages and tests of one worker to those who watch its run. Loads and sends nothing while nobody does. */
export class WatchedWorker implements WorkerFeature {
  readonly #ask: Ask;
  readonly #calls: OrderCalls;
  readonly #slot: number;
  readonly #connections = new Set<WatchableConnection>();
  readonly #tests = new Map<string, RunningTest>();
  #shown: ShownWorker | null = null;
  #listens = false;

  /** @param slot `parallelIndex` of the worker */
  constructor(ask: Ask, slot: number) {
    this.#ask = ask;
    this.#calls = orderCallsOver(ask);
    this.#slot = slot;
  }

  /** Shows the pages of a connection until it closes. */
  opened(connection: WatchableConnection): void {
    this.#connections.add(connection);
    this.#shown?.updatePictures();
    void connection.closed.then(() => {
      this.#connections.delete(connection);
      this.#shown?.updatePictures();
    });
    if (!this.#listens) void this.#listen();
  }

  testBegan({ key, titles, project, startedAt }: RunningTestFacts): void {
    const title = titles.join(' › ');
    this.#tests.set(key, { id: key, title, project, step: null, startedAt: startedAt.getTime() });
    this.#shown?.report();
  }

  testEnded({ key }: Pick<FeatureTest, 'key'>): void {
    this.#tests.delete(key);
    this.#shown?.report();
  }

  /** Until the broker is lost for good, or the worker has closed its connection. */
  async #listen(): Promise<void> {
    this.#listens = true;
    let orders = UNWATCHED;
    try {
      for (;;) {
        orders = await this.#calls.watchOrders({ slot: this.#slot, after: orders.number });
        if (orders.isWatched) this.#shown ??= await this.#load();
        this.#shown?.apply(orders);
      }
    } catch {
      this.#listens = false;
      this.#shown?.apply(UNWATCHED);
    }
  }

  async #load(): Promise<ShownWorker> {
    const { ShownWorker } = await import('./shown-worker.ts');
    return new ShownWorker(this.#ask, this.#slot, { connections: this.#connections, tests: this.#tests });
  }
}
