import { type Calls, callsOver } from '../../broker/rpc/call-table.ts';
import { openBroker } from '../../broker/rpc/client.ts';
import type { BrokerAddress } from '../../broker/rpc/shared-broker.ts';
import { type RunViewReply, WATCHER_CALLS, type WatcherPicture } from '../../broker/watch/calls.ts';
import {
  type FinishedTest,
  listed,
  type PictureSize,
  type RunView,
  type WatchedRun,
  type WatchPicture,
} from '../../broker/watch/view.ts';
import type { PageInput } from '../../common/page/page-input.ts';

/** How many finished tests keep their last picture. Those of failed tests are kept longest. */
const MAX_TESTS = 300;
/** How many pages of a slot are remembered. */
const MAX_PAGES = 20;

export interface RunConnectionEvents {
  onChange(): void;
  /** Resolves when everybody has shown the picture. Must not reject. */
  onPicture(run: WatchedRun, picture: WatchPicture): Promise<void>;
}

/** A run of this machine, while its broker lives and afterwards. */
export class RunConnection implements WatchedRun {
  readonly id: string;
  readonly #events: RunConnectionEvents;
  readonly #pictures = new LastPictures();
  #broker: WatcherConnection | null = null;
  #demand: ReadonlyMap<number, PictureSize> = new Map();
  #finished: FinishedTest[] = [];
  #view: RunView | null = null;

  constructor(id: string, events: RunConnectionEvents) {
    this.id = id;
    this.#events = events;
  }

  get isOpen(): boolean {
    return this.#broker !== null;
  }

  /** Whether anything is known about the run. */
  get isKnown(): boolean {
    return this.#view !== null;
  }

  get view(): RunView {
    if (!this.#view) throw new Error('the run is not known yet');
    return this.#view;
  }

  /**
   * Connects to the broker of the run, or to the one that replaces it after a crash.
   * @throws LeaseError `BROKER_LOST` without a broker there
   */
  async open(address: BrokerAddress): Promise<void> {
    const broker = await connectAsWatcher(address);
    this.#broker = broker;
    void broker.closed.then(() => this.#lost(broker));
    // Both end when the connection is lost.
    void Promise.all([this.#followView(broker), this.#followPictures(broker)]).catch(() => undefined);
    this.demand(this.#demand);
  }

  close(): void {
    this.#broker?.close();
  }

  lastPicture(test: string): Buffer | null {
    return this.#pictures.of(test);
  }

  demand(slots: ReadonlyMap<number, PictureSize>): void {
    this.#demand = new Map(slots);
    this.#send((to) => to.demand({ slots: [...slots].map(([slot, size]) => ({ slot, size })) }));
  }

  input(slot: number, target: string, input: PageInput): void {
    this.#send((to) => to.input({ slot, target, input }));
  }

  release(slot: number): void {
    this.#send((to) => to.release({ slot }));
  }

  #send(request: (broker: WatcherConnection) => Promise<void>): void {
    if (this.#broker) request(this.#broker).catch(() => undefined);
  }

  async #followView(broker: WatcherConnection): Promise<void> {
    this.#finished = [];
    for (let [after, known] = [0, 0]; ; ) {
      const reply = await broker.runView({ after, known });
      after = reply.number;
      known = reply.view.ended;
      this.#show(reply);
    }
  }

  async #followPictures(broker: WatcherConnection): Promise<void> {
    for (;;) {
      for (const picture of await broker.pictures()) void this.#take(broker, picture);
    }
  }

  async #take(broker: WatcherConnection, { number, data, ...rest }: WatcherPicture): Promise<void> {
    const picture = { ...rest, data: Buffer.from(data, 'base64') };
    this.#pictures.add(picture);
    if (this.#view) await this.#events.onPicture(this, picture);
    await broker.shown({ number }).catch(() => undefined);
  }

  #show({ view, finished }: RunViewReply): void {
    const all = listed([...finished, ...this.#finished]);
    // A test's last picture may arrive after its end, and is dropped when there are many newer ones.
    this.#pictures.ended(all);
    this.#finished = all.map((test) => {
      const hasPicture = this.#pictures.has(test.id);
      return test.hasPicture === hasPicture ? test : { ...test, hasPicture };
    });
    this.#view = { ...view, finished: this.#finished, id: this.id };
    this.#events.onChange();
  }

  /** The broker has ended with its run, or has died. */
  #lost(broker: WatcherConnection): void {
    if (this.#broker !== broker) return;
    this.#broker = null;
    if (!this.#view) return;
    this.#view = { ...this.#view, endedAt: this.#view.endedAt ?? Date.now(), slots: [] };
    this.#events.onChange();
  }
}

/** The last pictures of the tests of one run. */
class LastPictures {
  /** By slot and target, the latest last. */
  readonly #pages = new Map<number, Map<string, WatchPicture>>();
  readonly #tests = new Map<string, { ok: boolean; data: Buffer }>();

  /** A page has a new picture. */
  add(picture: WatchPicture): void {
    const { slot, target } = picture;
    const pages = this.#pages.get(slot) ?? new Map<string, WatchPicture>();
    this.#pages.set(slot, pages);
    pages.delete(target);
    pages.set(target, picture);
    for (const old of pages.keys()) {
      if (pages.size <= MAX_PAGES) break;
      pages.delete(old);
    }
  }

  /** Tests have ended: keeps the last picture of each. */
  ended(tests: readonly FinishedTest[]): void {
    for (const { id, ok, slot, startedAt, endedAt } of tests) {
      if (this.#tests.has(id)) continue;
      const during = [...(this.#pages.get(slot)?.values() ?? [])].filter(({ at }) => at >= startedAt && at <= endedAt);
      // The browser's first page is open, too.
      const last = during.findLast(({ url }) => url !== 'about:blank') ?? during.at(-1);
      if (last) this.#tests.set(id, { ok, data: last.data });
    }
    const byAge = [...this.#tests];
    for (const [id] of [...byAge.filter(([, { ok }]) => ok), ...byAge.filter(([, { ok }]) => !ok)]) {
      if (this.#tests.size <= MAX_TESTS) break;
      this.#tests.delete(id);
    }
  }

  has(test: string): boolean {
    return this.#tests.has(test);
  }

  /** As JPEG. @param test its ID */
  of(test: string): Buffer | null {
    return this.#tests.get(test)?.data ?? null;
  }
}

/** The connection of a watcher to a broker. Each call rejects when it is lost. */
export interface WatcherConnection extends Calls<typeof WATCHER_CALLS> {
  /** Resolves when the connection is closed. */
  readonly closed: Promise<unknown>;
  close(): void;
}

/** @param address with the token of those who watch @throws LeaseError `BROKER_LOST` without a broker there */
export async function connectAsWatcher(address: BrokerAddress): Promise<WatcherConnection> {
  const { ask, requests, socket } = await openBroker(address, 'observer');
  return { ...callsOver(WATCHER_CALLS, ask), closed: requests.closed, close: () => socket.destroy() };
}
