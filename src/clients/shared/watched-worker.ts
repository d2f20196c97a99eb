import type { RunningTests, WatchOrders } from '../../broker/watch/requests.ts';
import type { PictureSize } from '../../broker/watch/view.ts';
import type { WatchedConnection } from '../../broker/watch/watched-connection.ts';
import type { Picture, PictureOptions, PictureReceiver } from '../../cdp/screencast/picture.ts';
import type { Screencast } from '../../cdp/screencast/screencast.ts';

/** What is watched of a connection. */
export interface WatchableConnection {
  readonly screencast: Screencast;
  /** Resolves when it is closed. */
  readonly closed: Promise<unknown>;
}

type RunningTest = Omit<RunningTests[number], 'slot'>;

const PICTURES: Record<PictureSize, PictureOptions> = {
  small: { maxWidth: 480, maxHeight: 360, quality: 50, perSecond: 2 },
  large: { maxWidth: 1280, maxHeight: 960, quality: 60, perSecond: 15 },
};

/** Shows the pages and tests of one worker to those who watch its run. Sends nothing while nobody does. */
export class WatchedWorker {
  readonly #broker: WatchedConnection;
  readonly #slot: number;
  /** The open connections, each with what stops its pictures. */
  readonly #connections = new Map<WatchableConnection, (() => void) | null>();
  readonly #tests = new Map<string, RunningTest>();
  #orders: WatchOrders = { number: 0, isWatched: false, pictures: null };
  #listens = false;

  /** @param slot `parallelIndex` of the worker */
  constructor(broker: WatchedConnection, slot: number) {
    this.#broker = broker;
    this.#slot = slot;
  }

  /** Shows the pages of a connection until it closes. */
  follow(connection: WatchableConnection): void {
    this.#connections.set(connection, this.#pictures(connection));
    void connection.closed.then(() => {
      this.#connections.get(connection)?.();
      this.#connections.delete(connection);
    });
    if (!this.#listens) void this.#listen();
  }

  /** A test begins. Only for runners that do not report their tests themselves. */
  began(test: RunningTest): void {
    this.#tests.set(test.id, test);
    this.#report();
  }

  ended(id: string): void {
    this.#tests.delete(id);
    this.#report();
  }

  /** Until the broker is lost for good, or the worker has closed its connection. */
  async #listen(): Promise<void> {
    this.#listens = true;
    try {
      for (;;) this.#apply(await this.#broker.orders(this.#slot, this.#orders.number));
    } catch {
      this.#listens = false;
      this.#apply({ number: 0, isWatched: false, pictures: null });
    }
  }

  #apply(orders: WatchOrders): void {
    const before = this.#orders;
    this.#orders = orders;
    if (orders.isWatched && !before.isWatched) this.#report();
    if (orders.pictures === before.pictures) return;
    for (const [connection, stop] of this.#connections) {
      stop?.();
      this.#connections.set(connection, this.#pictures(connection));
    }
  }

  #pictures({ screencast }: WatchableConnection): (() => void) | null {
    const { pictures } = this.#orders;
    return pictures === null ? null : screencast.start(new WatchedPages(this.#broker, this.#slot, PICTURES[pictures]));
  }

  #report(): void {
    if (!this.#orders.isWatched) return;
    const tests = [...this.#tests.values()].map((test) => ({ ...test, slot: this.#slot }));
    this.#broker.running(tests).catch(() => undefined);
  }
}

/** Sends the pictures of a worker's pages. A picture that is not shown yet holds up the next one of its page. */
class WatchedPages implements PictureReceiver {
  readonly #broker: WatchedConnection;
  readonly #slot: number;
  readonly options: PictureOptions;

  constructor(broker: WatchedConnection, slot: number, options: PictureOptions) {
    this.#broker = broker;
    this.#slot = slot;
    this.options = options;
  }

  async onPicture(picture: Picture): Promise<void> {
    await this.#broker.picture({ ...picture, slot: this.#slot }).catch(() => undefined);
  }

  onPageEnd(target: string): void {
    this.#broker.pageClosed(this.#slot, target).catch(() => undefined);
  }
}
