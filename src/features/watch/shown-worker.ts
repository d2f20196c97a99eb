import type { Ask } from '../../broker/rpc/call-table.ts';
import { type RunningTests, type WatchedCalls, watchedCallsOver } from '../../broker/watch/calls.ts';
import type { WatchOrders } from '../../broker/watch/orders.ts';
import type { PictureSize } from '../../broker/watch/view.ts';
import type { Picture, PictureOptions, PictureReceiver, Screencast } from '../../cdp/screencast/screencast.ts';

const PICTURES: Record<PictureSize, PictureOptions> = {
  small: { maxWidth: 480, maxHeight: 360, quality: 50, perSecond: 2 },
  large: { maxWidth: 1280, maxHeight: 960, quality: 60, perSecond: 15 },
};

/** What is watched of a connection. */
export interface WatchableConnection {
  readonly screencast: Screencast;
  readonly closed: Promise<unknown>;
}

export type RunningTest = Omit<RunningTests[number], 'slot'>;

/** What there is to show of a worker. It changes. */
interface ToShow {
  connections: ReadonlySet<WatchableConnection>;
  tests: ReadonlyMap<string, RunningTest>;
}

/** Sends pictures and tests of one worker, as watchers want them. Loaded when somebody watches. */
export class ShownWorker {
  readonly #broker: WatchedCalls;
  readonly #slot: number;
  readonly #toShow: ToShow;
  /** What stops the pictures of a connection. */
  readonly #stops = new Map<WatchableConnection, () => void>();
  readonly #bytes = new WeakMap<Screencast, number>();
  #isWatched = false;
  #pictures: PictureSize | null = null;

  constructor(ask: Ask, slot: number, toShow: ToShow) {
    this.#broker = watchedCallsOver(ask);
    this.#slot = slot;
    this.#toShow = toShow;
  }

  apply({ isWatched, pictures }: WatchOrders): void {
    const before = { isWatched: this.#isWatched, pictures: this.#pictures };
    this.#isWatched = isWatched;
    this.#pictures = pictures;
    if (!before.isWatched) this.report();
    if (pictures === before.pictures) return;
    this.#stopAllBut(new Set());
    this.updatePictures();
  }

  /** Call it after a change of the connections. */
  updatePictures(): void {
    const { connections } = this.#toShow;
    this.#stopAllBut(connections);
    if (this.#pictures === null) return;
    const options = PICTURES[this.#pictures];
    for (const connection of connections) {
      if (this.#stops.has(connection)) continue;
      const { screencast } = connection;
      const receiver = new WatchedPages(this.#broker, this.#slot, options, () => this.#newBytes(screencast));
      this.#stops.set(connection, screencast.start(receiver));
    }
  }

  /** Call it after a change of the tests. */
  report(): void {
    if (!this.#isWatched) return;
    const tests = [...this.#toShow.tests.values()].map((test) => ({ ...test, slot: this.#slot }));
    this.#broker.running({ tests }).catch(() => undefined);
  }

  /** Bytes of pictures since the last call, also of those that are not sent to the broker. */
  #newBytes(screencast: Screencast): number {
    const all = screencast.bytes();
    const before = this.#bytes.get(screencast) ?? 0;
    this.#bytes.set(screencast, all);
    return all - before;
  }

  #stopAllBut(connections: ReadonlySet<WatchableConnection>): void {
    for (const [connection, stop] of this.#stops) {
      if (connections.has(connection)) continue;
      stop();
      this.#stops.delete(connection);
    }
  }
}

/** Sends the pictures of a worker's pages. A picture that is not shown yet holds up the next one of its page. */
class WatchedPages implements PictureReceiver {
  readonly #broker: WatchedCalls;
  readonly #slot: number;
  readonly #newBytes: () => number;
  readonly options: PictureOptions;

  constructor(broker: WatchedCalls, slot: number, options: PictureOptions, newBytes: () => number) {
    this.#broker = broker;
    this.#slot = slot;
    this.options = options;
    this.#newBytes = newBytes;
  }

  async onPicture(picture: Picture): Promise<void> {
    await this.#broker.picture({ ...picture, slot: this.#slot, bytes: this.#newBytes() }).catch(() => undefined);
  }

  onPageEnd(target: string): void {
    this.#broker.pageClosed({ slot: this.#slot, target }).catch(() => undefined);
  }
}
